/** Uploads: files are grouped with those that they refer to, so that one broken file does not affect the others. */
import type { Context } from "../context";
import { RequestError } from "../protocol/connection";
import type { FileOpened, FormatEntry } from "../protocol/messages";
import { errorText } from "./stage_sync";

export type FileState = "waiting" | "sending" | "opened" | "kept" | "failed";

export interface Arrival {
  name: string;
  size: number;
  state: FileState;
  sentence: string; // the error, or notes of the reader
}

/** Endings of formats whose files refer to others beside them. */
const REFERRING_ENDINGS = [".gltf", ".obj", ".usda", ".usd", ".amc"];
const COMPANION_ENDINGS = [".bin", ".png", ".jpg", ".jpeg", ".webp", ".ktx2", ".mtl", ".tga", ".asf"];

const hasEnding = (name: string, endings: readonly string[]) =>
  endings.some((ending) => name.toLowerCase().endsWith(ending));

export interface Group<T> {
  main: T; // the file that is opened
  companions: T[]; // the files that it may refer to
}

/**
 * Groups files into those that are opened, each with the others that it may need, and those that cannot be opened.
 * Motion comes after characters, so that its character exists.
 */
export function groupFiles<T extends { name: string }>(
  files: readonly T[],
  endings: readonly string[],
): { groups: Group<T>[]; unknown: T[] } {
  const skeletonAlone = !files.some((file) => hasEnding(file.name, [".amc"]));
  const isCompanion = (file: T) =>
    hasEnding(file.name, COMPANION_ENDINGS) && !(skeletonAlone && hasEnding(file.name, [".asf"]));
  const companions = files.filter(isCompanion);
  const mains = files.filter((file) => !isCompanion(file) && hasEnding(file.name, endings));
  const loadOrder = (file: T) => Number(hasEnding(file.name, [".csv", ".json"]));
  mains.sort((a, b) => loadOrder(a) - loadOrder(b));
  const groups = mains.map((main) => ({ main, companions: hasEnding(main.name, REFERRING_ENDINGS) ? companions : [] }));
  const used = new Set(groups.flatMap((group) => [group.main, ...group.companions]));
  return { groups, unknown: files.filter((file) => !used.has(file)) };
}

async function post(group: Group<File>): Promise<FileOpened> {
  const form = new FormData();
  for (const file of [group.main, ...group.companions]) form.append("files", file, file.name);
  const answer = await fetch("upload", { method: "POST", body: form });
  if (!answer.ok) throw new RequestError(await errorText(answer));
  return (await answer.json()) as FileOpened;
}

/** Uploads files and reports their states after each step. */
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
  const setState = (file: File, state: FileState, sentence = "") => {
    arrivals.set(file, { ...(arrivals.get(file) as Arrival), state, sentence });
    draw([...arrivals.values()]);
  };
  const { groups, unknown } = groupFiles(files, endings);
  for (const file of unknown) {
    setState(file, "failed", `${file.name} cannot be opened here; known are ${endings.join(", ")}.`);
  }
  for (const group of groups) {
    const size = [group.main, ...group.companions].reduce((sum, file) => sum + file.size, 0);
    if (size > largest) {
      setState(
        group.main,
        "failed",
        `This is larger than the ${Math.floor(largest / (1 << 20))} MB that the page may send; ` +
          "open it with `understudy studio FILE`.",
      );
      continue;
    }
    setState(group.main, "sending");
    try {
      const opened = await post(group);
      for (const file of group.companions) setState(file, "kept");
      setState(group.main, "opened", opened.notes.slice(0, 3).join(" "));
    } catch (reason) {
      if (reason instanceof RequestError) notices.suppress(reason.sentence); // the list of files shows it
      setState(
        group.main,
        "failed",
        reason instanceof RequestError
          ? reason.sentence
          : "The server did not answer. The page reconnects by itself; then drop the file again.",
      );
    }
  }
  for (const [file, arrival] of arrivals)
    if (arrival.state === "waiting") setState(file, "failed", "No file here refers to it.");
}
