/** The dope sheet as a surface: rows beside the list of channels, scrolled with it. */

import { createDrawing, type DrawnSurface, type Own } from "./canvas_surface";
import { allTimes, keysAt, keysInBox, rowMiddle, type Sheet, sheetBox } from "./dope";
import { drawSheet, drawSheetTop } from "./dope_picture";
import type { Pointing } from "./graph_picture";
import { edgeAt } from "./hits";
import type { Model } from "./model";
import { RULER } from "./ruler_picture";
import type { SharedView } from "./shared_view";
import { xAt } from "./view";

/** What the list beside it shows. */
export interface Rows {
  readonly rows: readonly number[]; // channels, from the top
  scroll: number; // px
}

export function createDopeSurface(model: Model, view: SharedView, list: Rows): DrawnSurface {
  let pointing: Pointing = {};
  let summed: { rows: readonly number[]; kept: unknown; times: number[] } | null = null;

  /** Times of all keys, worked out again only where the keys or the rows are others. */
  function summary(): number[] {
    if (summed?.rows !== list.rows || summed.kept !== model.kept)
      summed = { rows: list.rows, kept: model.kept, times: allTimes(model.kept, list.rows) };
    return summed.times;
  }

  const sheet = (): Sheet => ({
    channels: model.channels,
    rows: list.rows,
    summary: summary(),
    selection: model.selection,
    view: view.value,
    area: drawing.area(),
    scroll: list.scroll,
  });
  const drawing = createDrawing(model, view, "Dope sheet", "keys", {
    base: (paint, moving) =>
      drawSheet(paint, sheet(), new Set(model.chosen), moving, model.state?.rate ?? 30, {
        start: 0,
        stop: model.state?.seconds ?? 0,
      }),
    top: (paint, moving) => drawSheetTop(paint, sheet(), moving, pointing),
  });

  const own: Own = {
    upright: false,
    hit(x, y) {
      if (y < RULER) return { kind: "ruler" };
      const now = sheet();
      const places = keysAt(now, x, y);
      if (places.length) return { kind: "keys", places };
      const box = sheetBox(now);
      const edge = box && edgeAt(box, x, y, false);
      return box && edge ? { kind: "edge", edge, box } : { kind: "empty" };
    },
    place(channel, _column, key) {
      const now = sheet();
      const row = now.rows.indexOf(channel);
      return row < 0 ? null : { x: xAt(now.view, now.area, now.channels[channel].times[key]), y: rowMiddle(now, row) };
    },
    inBox: (box) => keysInBox(sheet(), box),
    point(next) {
      pointing = next;
      drawing.draw(false);
    },
    laneOf: () => ({ scale: 1, offset: 0 }),
    scrollBy(pixels) {
      list.scroll += pixels;
    },
  };
  return Object.assign(drawing, own);
}
