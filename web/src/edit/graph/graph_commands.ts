/** What can be done with keys by name: the menu of the right button, and the commands of the palette. */
import { showMenu } from "../../controls/menu";
import type { Command } from "../../modes/mode";
import type { Model } from "./model";
import type { Operations, Tangents } from "./operations";

const TANGENTS: Record<Tangents, string> = { auto: "Auto", flat: "Flat", linear: "Linear", stepped: "Stepped" };

interface Does {
  model: Model;
  operations: Operations;
  insertHere(): void;
}

export function keysMenu(x: number, y: number, { model, operations, insertHere }: Does): void {
  const item = (title: string, run: () => void, about?: string) => ({
    title,
    run,
    about,
    disabled: model.selection.size === 0,
  });
  const ways = (Object.keys(TANGENTS) as Tangents[]).map((how) => item(TANGENTS[how], () => operations.tangents(how)));
  showMenu(
    { x, y },
    [
      ...ways,
      item("Break tangents", () => operations.broken(true)),
      item("Unify tangents", () => operations.broken(false)),
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
}: Does & { go(tab: "keys" | "graph"): void; other(): void; fit(): void }): Command[] {
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
      command(how, `Tangents: ${TANGENTS[how].toLowerCase()}`, () => operations.tangents(how)),
    ),
    command("break", "Tangents: break", () => operations.broken(true)),
    command("unify", "Tangents: unify", () => operations.broken(false)),
    command("insert", "Insert a key on the chosen channels", insertHere),
    command("delete", "Delete the selected keys", operations.remove),
    command("all", "Select all keys", operations.selectAll),
    command("fit", "Frame the selected keys", fit),
  ];
}
