/** An orbit camera for the map: drag turns, right drag moves, the wheel zooms, a double click resets it. */
import { PerspectiveCamera, Vector3 } from "three";

const DRAG_THRESHOLD_PX = 3; // before a press counts as a drag
const MAX_ELEVATION = 1.45; // radians
const HOME_ANGLES: readonly [number, number] = [0.26, 0.16]; // azimuth and elevation, radians; enough to show depth

export interface Orbit {
  readonly camera: PerspectiveCamera;
  /** Resets the view; `middle` and `half` (width, height, depth) set the box that it frames. */
  home(middle?: readonly [number, number, number], half?: readonly [number, number, number]): void;
  resize(width: number, height: number): void;
  /** Turns the camera, for keys. */
  turn(azimuth: number, elevation: number): void;
  zoom(factor: number): void;
}

/**
 * Adds listeners to an element; `onChange` is called when the view changes, `onClick` for a press that was not a drag.
 */
export function createOrbit(
  element: HTMLElement,
  onChange: () => void,
  onClick: (x: number, y: number) => void,
): Orbit {
  const camera = new PerspectiveCamera(32, 1, 0.05, 200);
  const target = new Vector3();
  const middle = new Vector3();
  const extent = new Vector3(1, 1, 1);
  let [azimuth, elevation, distance] = [...HOME_ANGLES, 10];

  function placeCamera(): void {
    const flat = Math.cos(elevation) * distance;
    camera.position.set(Math.sin(azimuth) * flat, Math.sin(elevation) * distance, Math.cos(azimuth) * flat).add(target);
    camera.lookAt(target);
    camera.updateMatrixWorld();
    onChange();
  }

  /** The distance at which the whole box is visible. */
  function fitDistance(): number {
    const slope = Math.tan((camera.fov * Math.PI) / 360);
    const across =
      (extent.x * Math.cos(HOME_ANGLES[0]) + extent.z * Math.sin(HOME_ANGLES[0])) / (slope * camera.aspect);
    const up = (extent.y * Math.cos(HOME_ANGLES[1]) + extent.z * Math.sin(HOME_ANGLES[1])) / slope;
    return Math.max(across, up) + extent.z;
  }

  function goHome(): void {
    target.copy(middle);
    [azimuth, elevation, distance] = [...HOME_ANGLES, fitDistance()];
    placeCamera();
  }

  const orbit: Orbit = {
    camera,
    home(to, half) {
      if (to) middle.set(...to);
      if (half) extent.set(...half);
      goHome();
    },
    resize(width, height) {
      const before = fitDistance();
      camera.aspect = width / Math.max(height, 1);
      camera.updateProjectionMatrix();
      distance *= fitDistance() / before;
      placeCamera();
    },
    turn(across, up) {
      azimuth += across;
      elevation = Math.min(MAX_ELEVATION, Math.max(-MAX_ELEVATION, elevation + up));
      placeCamera();
    },
    zoom(factor) {
      distance = Math.min(8 * fitDistance(), Math.max(0.08 * fitDistance(), distance * factor));
      placeCamera();
    },
  };

  element.addEventListener("pointerdown", (down) => {
    if (down.button > 2) return;
    const moves = down.button === 2 || down.shiftKey;
    let [x, y, dragging] = [down.clientX, down.clientY, false];
    element.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent) => {
      if (!dragging && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < DRAG_THRESHOLD_PX)
        return;
      dragging = true;
      element.classList.add("dragging");
      const [dx, dy] = [event.clientX - x, event.clientY - y];
      [x, y] = [event.clientX, event.clientY];
      if (!moves) return orbit.turn(-0.008 * dx, 0.008 * dy);
      const size = (2 * distance * Math.tan((camera.fov * Math.PI) / 360)) / Math.max(element.clientHeight, 1);
      const [right, up] = [
        new Vector3().setFromMatrixColumn(camera.matrix, 0),
        new Vector3().setFromMatrixColumn(camera.matrix, 1),
      ];
      target.addScaledVector(right, -dx * size).addScaledVector(up, dy * size);
      placeCamera();
    };
    const end = (event: PointerEvent) => {
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
      element.classList.remove("dragging");
      if (!dragging && event.type === "pointerup" && down.button === 0) onClick(event.clientX, event.clientY);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  });
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      orbit.zoom(Math.exp(0.0012 * event.deltaY));
    },
    { passive: false },
  );
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  return orbit;
}
