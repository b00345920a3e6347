/** Named commands for keys: the context menu, and the commands of the palette. */
import { showMenu } from "../../controls/menu";
import type { Command } from "../../modes/mode";
import type { Model } from "./model";
import type { Operations, Tangents } from "./operations";

const TANGENTS: Record<Tangents, string> = { auto: "Auto", flat: "Flat", linear: "Linear", stepped: "Stepped" };

interface KeyActions {
  model: Model;
  operations: Operations;
  insertHere(): void;
}

export function keysMenu(x: number, y: number, { model, operations, insertHere }: KeyActions): void {
  const item = (title: string, run: () => void, about?: string) => ({
    title,
    run,
    about,
    disabled: model.selection.size === 0,
  });
  const ways = (Object.keys(TANGENTS) as Tangents[]).map((how) =>
    item(TANGENTS[how], () => operations.setTangents(how)),
  );
  showMenu(
    { x, y },
    [
      ...ways,
      item("Break tangents", () => operations.setBroken(true)),
      item("Unify tangents", () => operations.setBroken(false)),
      { ...item("Insert at the playhead", insertHere, "I"), disabled: model.kept.length === 0 },
      item("Delete", operations.remove, "Del"),
    ],
    "Keys",
  );
}

export function graphCommands({
  model,
  operations,
  insertHere,
  go,
  other,
  fit,
}: KeyActions & { go(tab: "keys" | "graph"): void; other(): void; fit(): void }): Command[] {
  const command = (id: string, title: string, run: () => void): Command => ({
    id: `graph.${id}`,
    title,
    enabled: () => model.kept.length > 0,
    run,
  });
  return [
    command("keys", "Dope sheet", () => go("keys")),
    command("curves", "Graph editor", () => go("graph")),
    { ...command("other", "Dope sheet or graph editor", other), keys: ["q"] },
    ...(Object.keys(TANGENTS) as Tangents[]).map((how) =>
      command(how, `Tangents: ${TANGENTS[how].toLowerCase()}`, () => operations.setTangents(how)),
    ),
    command("break", "Tangents: break", () => operations.setBroken(true)),
    command("unify", "Tangents: unify", () => operations.setBroken(false)),
    command("insert", "Insert a key on the chosen channels", insertHere),
    command("delete", "Delete the selected keys", operations.remove),
    command("all", "Select all keys", operations.selectAll),
    command("fit", "Frame the selected keys", fit),
  ];
}
