/** What the page knows: the server's document as it last said it, and what only the page decides. */

/** The server's document; typed by `protocol/messages.ts`. */
export type Document = Record<string, any>;

export interface Store {
  readonly document: Document | null;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Called at once with nothing, then after each change of the document. */
  onDocument(listener: (document: Document) => void): () => void;
}
