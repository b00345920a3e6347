/** Export: the server writes the file and the browser downloads it; a notice says what the format could not hold. */
import type { Context } from "../context";
import type { Item } from "../controls/menu";
import type { ExportRequest, FormatEntry } from "../protocol/messages";
import { fileSize } from "./time";

export type ExportKind = ExportRequest["what"];

/** Formats that can be written, glTF first. */
export function writableFormats(formats: readonly FormatEntry[]): FormatEntry[] {
  return formats.filter((format) => format.writes);
}

/** The common name of a format: "glTF", "USD", "BVH". */
export function formatName(format: FormatEntry): string {
  return (
    { glb: "glTF, one file", gltf: "glTF, as text", csv: "Live Link CSV", curves: "keyed curves" }[format.name] ??
    format.name.toUpperCase()
  );
}

/** Exports something as a file and downloads it. */
export async function exportAs(
  { connection, notices }: Pick<Context, "connection" | "notices">,
  what: ExportKind,
  target: string,
  format: string,
): Promise<void> {
  try {
    const file = await connection.request({ kind: "export", what, target, format });
    const link = document.createElement("a");
    link.href = file.url;
    link.download = file.name;
    link.click();
    const more = file.notes.length ? file.notes.slice(0, 3).join(" ") : "";
    notices.show(file.notes.length ? "warning" : "info", `Exported ${file.name}, ${fileSize(file.size)}.`, more);
  } catch (reason) {
    notices.showError(reason);
  }
}

/** Menu items, one for each format. */
export function exportItems(context: Context, what: ExportKind, target: string): Item[] {
  return writableFormats(context.store.hello?.formats ?? []).map((format) => ({
    title: `Export as ${formatName(format)}`,
    about: format.endings[0],
    run: () => void exportAs(context, what, target, format.endings[0].replace(/^\./, "")),
  }));
}
