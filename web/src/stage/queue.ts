/** Whether the last picture has been drawn: calls of WebGL return long before that. */

export class Queue {
  private last: WebGLSync | null = null;

  constructor(private readonly gl: WebGL2RenderingContext) {}

  /** A picture is on its way. */
  drew(): void {
    const { gl } = this;
    if (this.last) gl.deleteSync(this.last);
    this.last = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
  }

  /** Whether it has not arrived yet. A lost context has nothing on its way. */
  get busy(): boolean {
    const { gl } = this;
    return this.last !== null && gl.clientWaitSync(this.last, 0, 0) === gl.TIMEOUT_EXPIRED;
  }
}
