/** A camera that goes around the map: drag turns, right drag moves, the wheel zooms, a double click goes home. */
import { PerspectiveCamera, Vector3 } from "three";

const THRESHOLD = 3; // px before a press becomes a drag
const STEEPEST = 1.45; // radians
const HOME: readonly [number, number] = [0.26, 0.16]; // azimuth and elevation, radians: enough to see that it has depth

export interface Orbit {
  readonly camera: PerspectiveCamera;
  /** Shows what lies within half a width, a height and a depth about a middle, now and at each return. */
  home(middle?: readonly [number, number, number], half?: readonly [number, number, number]): void;
  resize(width: number, height: number): void;
  /** The camera turned by hand, for keys. */
  turn(azimuth: number, elevation: number): void;
  zoom(factor: number): void;
}

/** Listens on an element; `changed` is called when the view is another, `clicked` for a press that was no drag. */
export function createOrbit(element: HTMLElement, changed: () => void, clicked: (x: number, y: number) => void): Orbit {
  const camera = new PerspectiveCamera(32, 1, 0.05, 200);
  const target = new Vector3();
  const middle = new Vector3();
  const extent = new Vector3(1, 1, 1);
  let [azimuth, elevation, distance] = [...HOME, 10];

  function place(): void {
    const flat = Math.cos(elevation) * distance;
    camera.position.set(Math.sin(azimuth) * flat, Math.sin(elevation) * distance, Math.cos(azimuth) * flat).add(target);
    camera.lookAt(target);
    camera.updateMatrixWorld();
    changed();
  }

  /** How far away all of it is seen, from the front or nearly so. */
  function fitted(): number {
    const slope = Math.tan((camera.fov * Math.PI) / 360);
    const across = (extent.x * Math.cos(HOME[0]) + extent.z * Math.sin(HOME[0])) / (slope * camera.aspect);
    const up = (extent.y * Math.cos(HOME[1]) + extent.z * Math.sin(HOME[1])) / slope;
    return Math.max(across, up) + extent.z;
  }

  function toHome(): void {
    target.copy(middle);
    [azimuth, elevation, distance] = [...HOME, fitted()];
    place();
  }

  const orbit: Orbit = {
    camera,
    home(to, half) {
      if (to) middle.set(...to);
      if (half) extent.set(...half);
      toHome();
    },
    resize(width, height) {
      const before = fitted();
      camera.aspect = width / Math.max(height, 1);
      camera.updateProjectionMatrix();
      distance *= fitted() / before;
      place();
    },
    turn(across, up) {
      azimuth += across;
      elevation = Math.min(STEEPEST, Math.max(-STEEPEST, elevation + up));
      place();
    },
    zoom(factor) {
      distance = Math.min(8 * fitted(), Math.max(0.08 * fitted(), distance * factor));
      place();
    },
  };

  element.addEventListener("pointerdown", (down) => {
    if (down.button > 2) return;
    const moves = down.button === 2 || down.shiftKey;
    let [x, y, dragging] = [down.clientX, down.clientY, false];
    element.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent) => {
      if (!dragging && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < THRESHOLD) return;
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
      place();
    };
    const end = (event: PointerEvent) => {
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
      element.classList.remove("dragging");
      if (!dragging && event.type === "pointerup" && down.button === 0) clicked(event.clientX, event.clientY);
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
