/** The objects that every part of the page uses. */
import type { Connection } from "./protocol/connection";
import type { Notices } from "./shell/notices";
import type { Stage } from "./stage/api";
import type { Store } from "./store";

export interface Context {
  stage: Stage;
  connection: Connection;
  store: Store;
  notices: Notices;
}
