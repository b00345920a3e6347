/** The viewport: it holds the figures, lights and camera, and draws when something has changed. */
import { Group, type Object3D, PerspectiveCamera, Scene, Vector3 } from "three";
import { AdaptiveQuality } from "./adaptive_quality";
import type { Picked, Stage, StageStats, View } from "./api";
import { Backdrop } from "./backdrop";
import { CameraAnimation } from "./camera_animation";
import { addCameraControls } from "./camera_controls";
import { type Description, parseDescription } from "./description";
import { Figure } from "./figure";
import { FrameQueue } from "./frame_queue";
import { parseFrame } from "./frames";
import { Ghosts } from "./ghosts";
import { Ground } from "./ground";
import { Lights } from "./lights";
import { Listeners } from "./listeners";
import type { MaterialQuality } from "./materials";
import {
  CROWD_ANGLES,
  EMPTY_BOUNDS,
  FOV_DEGREES,
  frameBoxWithMargin,
  INITIAL_VIEW,
  orbitView,
  panView,
  zoomView,
} from "./orbit";
import { Outline } from "./outline";
import { Picker } from "./picker";
import { placeCamera, projectPoint, projectPoints, rayThrough } from "./projection";
import { makeRenderer } from "./renderer";
import { Shadows } from "./shadows";

const [STAGE_STREAM, CROWD_STREAM] = [0, 1];

export function createStage(host: HTMLElement): Stage {
  return new Viewport(host);
}

class Viewport implements Stage {
  readonly canvas: HTMLCanvasElement;
  dragsCharacter = false;
  outlines = true;
  isInteracting = false;
  claimsDrag: Stage["claimsDrag"] = null;
  private readonly renderer;
  private readonly limits;
  private readonly scene = new Scene();
  private readonly addedObjects = new Group();
  private readonly camera = new PerspectiveCamera(FOV_DEGREES, 1, 0.01, 100);
  private readonly lights: Lights;
  private readonly ground = new Ground();
  private readonly backdrop = new Backdrop();
  private readonly shadows: Shadows;
  private readonly picker = new Picker();
  private readonly outline = new Outline();
  private readonly ghostMeshes = new Ghosts();
  private readonly quality: AdaptiveQuality;
  private readonly resizing: ResizeObserver;
  private readonly stopListening: () => void;
  private readonly seenFrames = new Listeners<[sequence: number, stream: number]>();
  private readonly skippedFrames = new Listeners<[sequence: number, stream: number]>();
  private readonly drawnFrames = new Listeners<[now: number]>();
  readonly onSeen = this.seenFrames.add;
  readonly onSkipped = this.skippedFrames.add;
  readonly onDrawn = this.drawnFrames.add;
  private figure: Figure | null = null;
  private crowdFigure: Figure | null = null;
  private readonly frameQueue = new FrameQueue();
  private names: ReadonlySet<string> = new Set();
  private current: View = { ...INITIAL_VIEW };
  private cameraAnimation: CameraAnimation | null = null;
  private bounds = { centre: new Vector3(0, 1, 0), radius: 1, low: new Vector3(), high: new Vector3() };
  private requestId = 0; // of requestAnimationFrame; 0 without one
  private requestedAt = 0; // ms
  private width = 1;
  private height = 1;
  private ratio = 0;
  private drawn = 0;
  private showCount = 0; // counts calls of `show`, so that a slow call does not replace a newer one
  private disposed = false;

  constructor(private readonly host: HTMLElement) {
    const { renderer, limits } = makeRenderer();
    this.renderer = renderer;
    this.limits = limits;
    this.canvas = renderer.domElement;
    this.canvas.style.cssText = "display:block;width:100%;height:100%;touch-action:none;outline:none";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The stage: drag to turn, Shift and middle button to move, wheel to zoom");
    Object.assign(this.canvas, { stage: this }); // for the console and for tests
    host.append(this.canvas);
    const rest = (): void => void (this.isInteracting || this.draw(performance.now(), true));
    this.quality = new AdaptiveQuality(limits, rest, () => void renderer.compileAsync(this.scene, this.camera));
    this.shadows = new Shadows(renderer, this.ground, limits.software);
    this.lights = new Lights(this.scene, renderer, limits.shadowSize, limits.software);
    this.scene.add(this.backdrop.mesh, this.ground.mesh, this.addedObjects, this.ghostMeshes.group);
    this.fit();
    this.stopListening = addCameraControls(this.canvas, {
      turn: (dx, dy) => this.setView(orbitView(this.current, dx, dy, this.height)),
      move: (dx, dy) => this.setView(panView(this.current, dx, dy, this.height)),
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      isClaimed: (x, y) => this.claimsDrag?.(x, y) || (this.dragsCharacter && this.pick(x, y) !== null),
    });
    this.canvas.addEventListener("webglcontextrestored", () => {
      for (const figure of [this.figure, this.crowdFigure]) figure?.deformation.refresh();
      this.requestRender();
    });
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(host);
    this.resize();
  }

  async show(
    description: ArrayBuffer,
    textureSource: (texture: number) => string | Blob,
    fetchLod?: () => Promise<ArrayBuffer>,
  ): Promise<void> {
    const turn = ++this.showCount;
    const figure = await Figure.build(parseDescription(description), textureSource, this.materialQuality);
    if (turn !== this.showCount || this.disposed) return figure.dispose();
    const isFirst = this.figure === null || this.figure.description.name !== figure.description.name;
    this.clearFigure();
    this.figure = this.addFigure(figure);
    this.quality.setFigure(figure, fetchLod ?? null);
    // The frame may have come before the character; one of another character is refused or replaced soon.
    const pose = this.frameQueue.newest(STAGE_STREAM);
    if (pose) figure.accept(pose);
    this.outline.select(figure, this.names);
    this.fit();
    if (isFirst) {
      this.current = { ...this.current, azimuth: INITIAL_VIEW.azimuth, elevation: INITIAL_VIEW.elevation };
      this.current = this.homeView();
    }
    await this.renderer.compileAsync(this.scene, this.camera);
    this.requestRender();
  }

  clear(): void {
    this.showCount += 1;
    this.clearFigure();
    this.fit();
    this.requestRender();
  }

  async crowd(description: ArrayBuffer | null, urlOfTexture: (texture: number) => string): Promise<void> {
    const built =
      description && (await Figure.build(parseDescription(description), urlOfTexture, this.materialQuality, 0));
    if (this.crowdFigure) this.disposeFigure(this.crowdFigure);
    this.crowdFigure = null;
    if (built && !this.disposed) this.crowdFigure = this.addFigure(built);
    if (this.figure) this.figure.group.visible = !this.crowdFigure;
    this.fit();
    const { azimuth, elevation } = this.crowdFigure ? CROWD_ANGLES : INITIAL_VIEW;
    this.animateCamera(frameBoxWithMargin({ ...this.current, azimuth, elevation }, this.bounds, this.aspect));
  }

  setCrowdBounds(low: readonly number[], high: readonly number[]): void {
    if (!this.crowdFigure) return;
    this.crowdFigure.description.bounds = [low, high].map((corner) => [
      corner[0],
      corner[1],
      corner[2],
    ]) as Description["bounds"];
    this.fit();
    this.frameAll();
  }

  get software(): boolean {
    return this.limits.software;
  }

  private addFigure(figure: Figure): Figure {
    this.scene.add(figure.group);
    this.picker.add(figure);
    return figure;
  }

  private disposeFigure(figure: Figure): void {
    this.scene.remove(figure.group);
    this.picker.remove(figure);
    figure.dispose();
  }

  private clearFigure(): void {
    if (!this.figure) return;
    this.outline.select(null, new Set());
    this.ghostMeshes.show(null, null, 0);
    this.shadows.clear();
    this.quality.setFigure(null, null);
    this.disposeFigure(this.figure);
    this.figure = null;
  }

  frame(data: ArrayBuffer): void {
    const frame = parseFrame(data);
    if (!frame || frame.stream > CROWD_STREAM) return; // other streams do not contain characters
    const old = this.frameQueue.put(frame);
    if (!this.shows(frame.stream)) return;
    this.quality.recordArrival();
    if (old && !document.hidden) this.skippedFrames.emit(old.sequence, old.stream);
    this.requestRender();
  }

  ghosts(data: ArrayBuffer | null, now: number): void {
    this.ghostMeshes.show(this.figure, data, now);
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

  parentJoint(name: string): string {
    return this.joints[this.figure?.description.parents[this.joints.indexOf(name)] ?? -1] ?? "";
  }

  frameAll(): void {
    this.animateCamera(this.homeView());
  }

  frameSelection(): void {
    const box = this.names.size ? this.figure?.bounds(this.names, this.renderer) : null;
    if (!box) {
      this.frameAll();
      return;
    }
    // A joint alone would fill the whole image.
    this.animateCamera(frameBoxWithMargin(this.current, box, this.aspect, 1.6, 0.3 * this.homeView().distance));
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
    // In front of the character, so that a gaze at the pointer goes out of the image.
    return rayThrough(x / this.width, y / this.height, this.camera, this.current, 0.55);
  }

  project(point: readonly [number, number, number]): { x: number; y: number; visible: boolean } {
    this.placeCamera();
    return projectPoint(point, this.camera, this.width, this.height);
  }

  projectAll(points: Float32Array): Float32Array {
    this.placeCamera();
    return projectPoints(points, this.camera, this.width, this.height);
  }

  add(object: Object3D): void {
    this.addedObjects.add(object);
    this.requestRender();
  }

  remove(object: Object3D): void {
    this.addedObjects.remove(object);
    this.requestRender();
  }

  get view(): View {
    return { ...this.current, target: [...this.current.target] };
  }

  set view(view: View) {
    this.setView(view);
  }

  positions(): Float32Array {
    const figure = this.crowdFigure ?? this.figure;
    const frame = this.frameQueue.peek(this.crowdFigure ? CROWD_STREAM : STAGE_STREAM);
    if (frame) figure?.accept(frame);
    return figure ? figure.deformation.readPositions(this.renderer) : new Float32Array();
  }

  stats(): StageStats {
    return { ...this.quality.resolution.stats(performance.now()), drawn: this.drawn, dropped: this.frameQueue.dropped };
  }

  setAwaitingAnswer(isWaiting: boolean): void {
    this.quality.setAwaitingAnswer(isWaiting);
  }

  requestRender(): void {
    if (this.requestId || this.disposed || this.quality.postpone(() => this.requestRender())) return;
    this.requestedAt = performance.now();
    this.requestId = requestAnimationFrame((now) => this.draw(now, false));
  }

  drawNow(): void {
    cancelAnimationFrame(this.requestId);
    if (!this.requestId) this.requestedAt = performance.now();
    this.draw(performance.now(), false);
  }

  dispose(): void {
    this.disposed = true;
    cancelAnimationFrame(this.requestId);
    this.quality.dispose();
    this.resizing.disconnect();
    this.stopListening();
    this.clearFigure();
    if (this.crowdFigure) this.disposeFigure(this.crowdFigure);
    for (const resource of [
      this.lights,
      this.ground,
      this.backdrop,
      this.shadows,
      this.picker,
      this.outline,
      this.ghostMeshes,
    ])
      resource.dispose();
    this.renderer.dispose();
    this.canvas.remove();
  }

  private get materialQuality(): MaterialQuality {
    const { anisotropy, software } = this.limits;
    return { anisotropy, isSoftware: software, room: this.lights.room };
  }

  private get aspect(): number {
    return this.width / this.height;
  }

  private setView(view: View): void {
    [this.cameraAnimation, this.current] = [null, view];
    this.requestRender();
  }

  private zoom(factor: number, x: number, y: number): void {
    const limits = { nearest: 0.08 * this.bounds.radius, farthest: 25 * this.bounds.radius };
    const [u, v] = [(2 * x) / this.width - 1, 1 - (2 * y) / this.height];
    this.setView(zoomView(this.current, factor, limits, u, v, this.aspect));
  }

  private homeView(): View {
    return frameBoxWithMargin(this.current, this.bounds, this.aspect);
  }

  private animateCamera(to: View): void {
    this.cameraAnimation = new CameraAnimation(this.current, to, performance.now());
    this.requestRender();
  }

  /**
   * Whether frames of a stream are drawn now. Those of a character that a crowd hides stay queued without an answer.
   */
  private shows(stream: number): boolean {
    return (stream === CROWD_STREAM) === (this.crowdFigure !== null);
  }

  /** Fits ground, lights and shadows to the figure on stage. */
  private fit(): void {
    const on = this.crowdFigure ?? this.figure;
    const box = on?.description.bounds ?? EMPTY_BOUNDS;
    const [low, high] = box.map((corner) => new Vector3(...corner));
    const [centre, radius] = [low.clone().add(high).multiplyScalar(0.5), Math.max(0.5 * low.distanceTo(high), 1e-4)];
    this.bounds = { centre, radius, low, high };
    this.lights.fit(centre, radius);
    this.ground.fit(centre, radius, low.y);
    this.shadows.fit(this.crowdFigure ? null : on, low, high);
  }

  private resize(): void {
    this.width = Math.max(1, this.host.clientWidth);
    this.height = Math.max(1, this.host.clientHeight);
    this.ratio = 0; // the next frame sets the size
    this.backdrop.resize(this.width, this.height);
    this.requestRender();
  }

  private placeCamera(): void {
    placeCamera(this.camera, this.current, this.aspect, this.bounds);
  }

  private draw(now: number, resting: boolean): void {
    this.requestId = 0;
    const start = performance.now();
    const seen = this.frameQueue.take((stream) => this.shows(stream));
    for (const frame of seen)
      if ((frame.stream === CROWD_STREAM ? this.crowdFigure : this.figure)?.accept(frame)) this.drawn += 1;
    if (this.cameraAnimation) this.current = this.cameraAnimation.viewAt(now);
    if (this.cameraAnimation?.isDone) this.cameraAnimation = null;
    this.setRatio(this.quality.resolution.pixelRatio(resting, this.isInteracting));
    if (this.figure) this.figure.usesLod = !resting;
    this.placeCamera();
    this.lights.follow(this.current.azimuth);
    this.figure?.update(this.renderer);
    this.ghostMeshes.update(this.renderer);
    this.crowdFigure?.update(this.renderer);
    this.shadows.update(this.isInteracting, resting);
    this.renderer.info.reset();
    this.renderer.render(this.scene, this.camera);
    if (this.outlines) this.outline.draw(this.renderer, this.camera, this.ratio);
    for (const frame of seen) this.seenFrames.emit(frame.sequence, frame.stream);
    this.drawnFrames.emit(performance.now());
    if (resting) return;
    this.quality.recordFrame(this.requestedAt, start, now);
    if (this.cameraAnimation) this.requestRender();
  }

  private setRatio(ratio: number): void {
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(this.width, this.height, false);
  }
}
