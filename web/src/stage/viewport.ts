/** The stage itself: it holds the figures, the light and the camera, and draws when something has changed. */
import { Group, type Object3D, PerspectiveCamera, Scene, Vector3 } from "three";
import { Relief } from "./adaptive_quality";
import type { Picked, Stage, StageStats, View } from "./api";
import { Backdrop } from "./backdrop";
import { Flight } from "./camera_animation";
import { listen } from "./camera_controls";
import { type Description, parseDescription } from "./description";
import { Figure } from "./figure";
import { Inbox } from "./frame_queue";
import { parseFrame } from "./frames";
import { Ghosts } from "./ghosts";
import { Ground } from "./ground";
import { Lights } from "./lights";
import { Listeners } from "./listeners";
import type { Finesse } from "./materials";
import { CROWD_ANGLES, EMPTY, FOV, framedIn, moved, OPENING, turned, zoomed } from "./orbit";
import { Outline } from "./outline";
import { Picker } from "./picker";
import { onCanvas, placeCamera, projected, rayThrough } from "./projection";
import { makeRenderer } from "./renderer";
import { Shadows } from "./shadows";

const [STAGE_STREAM, CROWD_STREAM] = [0, 1];

export function createStage(host: HTMLElement): Stage {
  return new Theatre(host);
}

class Theatre implements Stage {
  readonly canvas: HTMLCanvasElement;
  dragsCharacter = false;
  outlines = true;
  hurried = false;
  claims: Stage["claims"] = null;
  private readonly renderer;
  private readonly ability;
  private readonly scene = new Scene();
  private readonly guests = new Group();
  private readonly camera = new PerspectiveCamera(FOV, 1, 0.01, 100);
  private readonly lights: Lights;
  private readonly ground = new Ground();
  private readonly backdrop = new Backdrop();
  private readonly shadows: Shadows;
  private readonly picker = new Picker();
  private readonly outline = new Outline();
  private readonly phantoms = new Ghosts();
  private readonly relief: Relief;
  private readonly resizing: ResizeObserver;
  private readonly stopListening: () => void;
  private readonly seen = new Listeners<[sequence: number, stream: number]>();
  private readonly skipped = new Listeners<[sequence: number, stream: number]>();
  private readonly pictured = new Listeners<[now: number]>();
  readonly onSeen = this.seen.add;
  readonly onSkipped = this.skipped.add;
  readonly onDrawn = this.pictured.add;
  private figure: Figure | null = null;
  private extras: Figure | null = null; // the crowd
  private readonly inbox = new Inbox();
  private names: ReadonlySet<string> = new Set();
  private current: View = { ...OPENING };
  private flight: Flight | null = null;
  private bounds = { centre: new Vector3(0, 1, 0), radius: 1, low: new Vector3(), high: new Vector3() };
  private asked = 0; // the number of the animation frame that will draw
  private askedAt = 0; // ms
  private width = 1;
  private height = 1;
  private ratio = 0;
  private drawn = 0;
  private showing = 0; // counts calls of `show`, so that a slow one does not replace a newer
  private disposed = false;

  constructor(private readonly host: HTMLElement) {
    const { renderer, ability } = makeRenderer();
    this.renderer = renderer;
    this.ability = ability;
    this.canvas = renderer.domElement;
    this.canvas.style.cssText = "display:block;width:100%;height:100%;touch-action:none;outline:none";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The stage: drag to turn, Shift and middle button to move, wheel to zoom");
    Object.assign(this.canvas, { stage: this }); // for the console, and for tests that measure what is drawn
    host.append(this.canvas);
    const rest = (): void => void (this.hurried || this.draw(performance.now(), true));
    this.relief = new Relief(ability, rest, () => void renderer.compileAsync(this.scene, this.camera));
    this.shadows = new Shadows(renderer, this.ground, ability.software);
    this.lights = new Lights(this.scene, renderer, ability.shadowSize, ability.software);
    this.scene.add(this.backdrop.mesh, this.ground.mesh, this.guests, this.phantoms.group);
    this.fit();
    this.stopListening = listen(this.canvas, {
      turn: (dx, dy) => this.setView(turned(this.current, dx, dy, this.height)),
      move: (dx, dy) => this.setView(moved(this.current, dx, dy, this.height)),
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      taken: (x, y) => this.claims?.(x, y) || (this.dragsCharacter && this.pick(x, y) !== null),
    });
    this.canvas.addEventListener("webglcontextrestored", () => {
      for (const each of [this.figure, this.extras]) each?.deformation.refresh();
      this.requestRender();
    });
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(host);
    this.resize();
  }

  async show(
    description: ArrayBuffer,
    urlOfTexture: (texture: number) => string,
    sketch?: () => Promise<ArrayBuffer>,
  ): Promise<void> {
    const turn = ++this.showing;
    const figure = await Figure.build(parseDescription(description), urlOfTexture, this.finesse);
    if (turn !== this.showing || this.disposed) return figure.dispose();
    const isFirst = this.figure === null || this.figure.description.name !== figure.description.name;
    this.removeFigure();
    this.figure = this.enter(figure);
    this.relief.of(figure, sketch ?? null);
    const late = this.inbox.of(STAGE_STREAM);
    if (late) figure.accept(late);
    this.outline.select(figure, this.names);
    this.fit();
    if (isFirst) {
      this.current = { ...this.current, azimuth: OPENING.azimuth, elevation: OPENING.elevation };
      this.current = this.home();
    }
    await this.renderer.compileAsync(this.scene, this.camera);
    this.requestRender();
  }

  clear(): void {
    this.showing += 1;
    this.removeFigure();
    this.fit();
    this.requestRender();
  }

  async crowd(description: ArrayBuffer | null, urlOfTexture: (texture: number) => string): Promise<void> {
    const built = description && (await Figure.build(parseDescription(description), urlOfTexture, this.finesse, 0));
    if (this.extras) this.leave(this.extras);
    this.extras = null;
    if (built && !this.disposed) this.extras = this.enter(built);
    if (this.figure) this.figure.group.visible = !this.extras;
    this.fit();
    const { azimuth, elevation } = this.extras ? CROWD_ANGLES : OPENING;
    this.fly(framedIn({ ...this.current, azimuth, elevation }, this.bounds, this.aspect));
  }

  crowdRoom(low: readonly number[], high: readonly number[]): void {
    if (!this.extras) return;
    this.extras.description.bounds = [low, high].map((corner) => [
      corner[0],
      corner[1],
      corner[2],
    ]) as Description["bounds"];
    this.fit();
    this.frameAll();
  }

  get software(): boolean {
    return this.ability.software;
  }

  private enter(figure: Figure): Figure {
    this.scene.add(figure.group);
    this.picker.add(figure);
    return figure;
  }

  private leave(figure: Figure): void {
    this.scene.remove(figure.group);
    this.picker.remove(figure);
    figure.dispose();
  }

  private removeFigure(): void {
    if (!this.figure) return;
    this.outline.select(null, new Set());
    this.phantoms.show(null, null, 0);
    this.shadows.clear();
    this.relief.of(null, null);
    this.leave(this.figure);
    this.figure = null;
  }

  frame(data: ArrayBuffer): void {
    const frame = parseFrame(data);
    if (!frame || frame.stream > CROWD_STREAM) return; // other streams are not pictures of characters
    const old = this.inbox.put(frame);
    if (!this.shows(frame.stream)) return;
    this.relief.came();
    if (old && !document.hidden) this.skipped.tell(old.sequence, old.stream);
    this.requestRender();
  }

  ghosts(data: ArrayBuffer | null, now: number): void {
    this.phantoms.show(this.figure, data, now);
    this.requestRender();
  }

  get size(): { width: number; height: number } {
    return { width: this.width, height: this.height };
  }

  get floor(): number {
    return this.bounds.low.y;
  }

  get joints(): readonly string[] {
    return this.figure?.description.joints ?? [];
  }

  jointAbove(name: string): string {
    return this.joints[this.figure?.description.parents[this.joints.indexOf(name)] ?? -1] ?? "";
  }

  frameAll(): void {
    this.fly(this.home());
  }

  frameSelection(): void {
    const box = this.names.size ? this.figure?.box(this.names, this.renderer) : null;
    if (!box) {
      this.frameAll();
      return;
    }
    // a joint alone would be all that is seen
    this.fly(framedIn(this.current, box, this.aspect, 1.6, 0.3 * this.home().distance));
  }

  select(names: readonly string[]): void {
    this.names = new Set(names);
    this.outline.select(this.figure, this.names);
    this.requestRender();
  }

  pick(x: number, y: number): Picked | null {
    this.placeCamera();
    return this.picker.pick(this.renderer, this.camera, x, y, this.width, this.height);
  }

  pointerRay(x: number, y: number): ReturnType<Stage["pointerRay"]> {
    this.placeCamera();
    // before the character: who looks at the pointer looks out of the picture, not into itself
    return rayThrough(x / this.width, y / this.height, this.camera, this.current, 0.55);
  }

  project(point: readonly [number, number, number]): { x: number; y: number; visible: boolean } {
    this.placeCamera();
    return onCanvas(point, this.camera, this.width, this.height);
  }

  projectAll(points: Float32Array): Float32Array {
    this.placeCamera();
    return projected(points, this.camera, this.width, this.height);
  }

  add(object: Object3D): void {
    this.guests.add(object);
    this.requestRender();
  }

  remove(object: Object3D): void {
    this.guests.remove(object);
    this.requestRender();
  }

  get view(): View {
    return { ...this.current, target: [...this.current.target] };
  }

  set view(view: View) {
    this.setView(view);
  }

  positions(): Float32Array {
    const figure = this.extras ?? this.figure;
    const frame = this.inbox.of(this.extras ? CROWD_STREAM : STAGE_STREAM);
    if (frame) figure?.accept(frame);
    return figure ? figure.deformation.read(this.renderer) : new Float32Array();
  }

  stats(): StageStats {
    return { ...this.relief.pace.stats(performance.now()), drawn: this.drawn, dropped: this.inbox.dropped };
  }

  awaits(asked: boolean): void {
    this.relief.awaits(asked);
  }

  requestRender(): void {
    if (this.asked || this.disposed || this.relief.postponed(() => this.requestRender())) return;
    this.askedAt = performance.now();
    this.asked = requestAnimationFrame((now) => this.draw(now, false));
  }

  drawNow(): void {
    cancelAnimationFrame(this.asked);
    if (!this.asked) this.askedAt = performance.now();
    this.draw(performance.now(), false);
  }

  dispose(): void {
    this.disposed = true;
    cancelAnimationFrame(this.asked);
    this.relief.dispose();
    this.resizing.disconnect();
    this.stopListening();
    this.removeFigure();
    if (this.extras) this.leave(this.extras);
    for (const each of [
      this.lights,
      this.ground,
      this.backdrop,
      this.shadows,
      this.picker,
      this.outline,
      this.phantoms,
    ])
      each.dispose();
    this.renderer.dispose();
    this.canvas.remove();
  }

  private get finesse(): Finesse {
    const { anisotropy, software } = this.ability;
    return { anisotropy, frugal: software, room: this.lights.room };
  }

  private get aspect(): number {
    return this.width / this.height;
  }

  private setView(view: View): void {
    [this.flight, this.current] = [null, view];
    this.requestRender();
  }

  private zoom(factor: number, x: number, y: number): void {
    const limits = { nearest: 0.08 * this.bounds.radius, farthest: 25 * this.bounds.radius };
    const [u, v] = [(2 * x) / this.width - 1, 1 - (2 * y) / this.height];
    this.setView(zoomed(this.current, factor, limits, u, v, this.aspect));
  }

  private home(): View {
    return framedIn(this.current, this.bounds, this.aspect);
  }

  private fly(to: View): void {
    this.flight = new Flight(this.current, to, performance.now());
    this.requestRender();
  }

  /** Whether frames of a stream are drawn now; what stands behind a crowd is not, and its frames wait unanswered. */
  private shows(stream: number): boolean {
    return (stream === CROWD_STREAM) === (this.extras !== null);
  }

  /** Ground, lights and shadows around what is on stage. */
  private fit(): void {
    const on = this.extras ?? this.figure;
    const box = on?.description.bounds ?? EMPTY;
    const [low, high] = box.map((corner) => new Vector3(...corner));
    const [centre, radius] = [low.clone().add(high).multiplyScalar(0.5), Math.max(0.5 * low.distanceTo(high), 1e-4)];
    this.bounds = { centre, radius, low, high };
    this.lights.fit(centre, radius);
    this.ground.fit(centre, radius, low.y);
    this.shadows.fit(this.extras ? null : on, low, high);
  }

  private resize(): void {
    this.width = Math.max(1, this.host.clientWidth);
    this.height = Math.max(1, this.host.clientHeight);
    this.ratio = 0; // sets the size at the next picture
    this.backdrop.resize(this.width, this.height);
    this.requestRender();
  }

  private placeCamera(): void {
    placeCamera(this.camera, this.current, this.aspect, this.bounds);
  }

  private draw(now: number, resting: boolean): void {
    this.asked = 0;
    const start = performance.now();
    const seen = this.inbox.take((stream) => this.shows(stream));
    for (const frame of seen)
      if ((frame.stream === CROWD_STREAM ? this.extras : this.figure)?.accept(frame)) this.drawn += 1;
    if (this.flight) this.current = this.flight.at(now);
    if (this.flight?.landed) this.flight = null;
    this.setRatio(this.relief.pace.ratioAt(resting, this.hurried));
    if (this.figure) this.figure.sketched = !resting;
    this.placeCamera();
    this.lights.follow(this.current.azimuth);
    this.figure?.update(this.renderer);
    this.phantoms.update(this.renderer);
    this.extras?.update(this.renderer);
    this.shadows.update(this.hurried, resting);
    this.renderer.info.reset();
    this.renderer.render(this.scene, this.camera);
    if (this.outlines) this.outline.draw(this.renderer, this.camera, this.ratio);
    for (const frame of seen) this.seen.tell(frame.sequence, frame.stream);
    this.pictured.tell(performance.now());
    if (resting) return;
    this.relief.drew(this.askedAt, start, now);
    if (this.flight) this.requestRender();
  }

  private setRatio(ratio: number): void {
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(this.width, this.height, false);
  }
}
