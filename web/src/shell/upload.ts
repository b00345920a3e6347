/** Files on their way to the server: grouped by what belongs together, so that one broken file spoils no other. */
import type { Context } from "../context";
import { Refused } from "../protocol/connection";
import type { FormatEntry, Opened } from "../protocol/messages";
import { refusal } from "./stage_sync";

export type FileState = "waiting" | "sending" | "opened" | "kept" | "failed";

export interface Arrival {
  name: string;
  size: number;
  state: FileState;
  sentence: string; // why not, or what reading had to change
}

/** Formats whose files refer to others beside them. */
const REFERRING = [".gltf", ".obj", ".usda", ".usd", ".amc"];
const COMPANIONS = [".bin", ".png", ".jpg", ".jpeg", ".webp", ".ktx2", ".mtl", ".tga", ".asf"];

const ends = (name: string, endings: readonly string[]) =>
  endings.some((ending) => name.toLowerCase().endsWith(ending));

export interface Group<T> {
  main: T; // the file that is opened
  companions: T[]; // those that it may refer to
}

/**
 * Which files are opened, each with the others that it may need; and those that nothing here can open.
 * Motion comes after characters, so that it finds whom it moves.
 */
export function grouped<T extends { name: string }>(
  files: readonly T[],
  endings: readonly string[],
): { groups: Group<T>[]; unknown: T[] } {
  const skeletonAlone = !files.some((file) => ends(file.name, [".amc"]));
  const isCompanion = (file: T) => ends(file.name, COMPANIONS) && !(skeletonAlone && ends(file.name, [".asf"]));
  const companions = files.filter(isCompanion);
  const mains = files.filter((file) => !isCompanion(file) && ends(file.name, endings));
  const late = (file: T) => Number(ends(file.name, [".csv", ".json"]));
  mains.sort((a, b) => late(a) - late(b));
  const groups = mains.map((main) => ({ main, companions: ends(main.name, REFERRING) ? companions : [] }));
  const taken = new Set(groups.flatMap((group) => [group.main, ...group.companions]));
  return { groups, unknown: files.filter((file) => !taken.has(file)) };
}

async function post(group: Group<File>): Promise<Opened> {
  const form = new FormData();
  for (const file of [group.main, ...group.companions]) form.append("files", file, file.name);
  const answer = await fetch("upload", { method: "POST", body: form });
  if (!answer.ok) throw new Refused(await refusal(answer));
  return (await answer.json()) as Opened;
}

/** Sends files and tells, after each step, what has become of them. */
export async function sendFiles(
  files: readonly File[],
  { store, notices }: Pick<Context, "store" | "notices">,
  draw: (arrivals: readonly Arrival[]) => void,
): Promise<void> {
  const formats: readonly FormatEntry[] = store.hello?.formats ?? [];
  const endings = formats.flatMap((format) => format.endings);
  const largest = store.hello?.largestUpload ?? Infinity;
  const arrivals = new Map<File, Arrival>(
    files.map((file) => [file, { name: file.name, size: file.size, state: "waiting", sentence: "" }]),
  );
  const say = (file: File, state: FileState, sentence = "") => {
    arrivals.set(file, { ...(arrivals.get(file) as Arrival), state, sentence });
    draw([...arrivals.values()]);
  };
  const { groups, unknown } = grouped(files, endings);
  for (const file of unknown) {
    say(file, "failed", `${file.name} is of no kind that can be opened here; known are ${endings.join(", ")}.`);
  }
  for (const group of groups) {
    const size = [group.main, ...group.companions].reduce((sum, file) => sum + file.size, 0);
    if (size > largest) {
      say(
        group.main,
        "failed",
        `This is larger than the ${Math.floor(largest / (1 << 20))} MB that the page may send; ` +
          "open it with `understudy studio FILE`.",
      );
      continue;
    }
    say(group.main, "sending");
    try {
      const opened = await post(group);
      for (const file of group.companions) say(file, "kept");
      say(group.main, "opened", opened.notes.slice(0, 3).join(" "));
    } catch (reason) {
      if (reason instanceof Refused) notices.toldElsewhere(reason.sentence); // the list tells it, where the file stands
      say(
        group.main,
        "failed",
        reason instanceof Refused
          ? reason.sentence
          : "The server did not answer; it comes back by itself, then drop the file again.",
      );
    }
  }
  for (const [file, arrival] of arrivals)
    if (arrival.state === "waiting") say(file, "failed", "No file here refers to it.");
}
