/** Jobs: name, progress, elapsed time, and a cancel button. */
import type { Context } from "../context";
import { h } from "../dom";
import type { JobChangedEvent } from "../protocol/messages";
import { duration } from "./time";

interface JobView {
  element: HTMLElement;
  bar: HTMLElement;
  text: HTMLElement;
  job: JobChangedEvent;
  receivedAt: number; // ms, time of the last report
}

/** Progress and time in one line: "40 % · 8 s, about 12 s more". */
export function progressText(done: number, total: number, seconds: number): string {
  if (total <= 0) return duration(seconds);
  const part = Math.min(1, Math.max(0, done / total));
  const more = part > 0.02 && part < 1 && seconds > 1 ? `, about ${duration((seconds * (1 - part)) / part)} more` : "";
  return `${Math.floor(part * 100)} % · ${duration(seconds)}${more}`;
}

export function createJobs(host: HTMLElement, { connection, notices }: Pick<Context, "connection" | "notices">): void {
  const shown = new Map<string, JobView>();

  function createView(job: JobChangedEvent): JobView {
    const bar = h("div", { class: "bar-done" });
    const text = h("span", { class: "muted" });
    const cancel = h("button", { class: "small", type: "button", "aria-label": `Cancel: ${job.name}` }, "Cancel");
    cancel.addEventListener("click", () => {
      cancel.disabled = true;
      cancel.textContent = "Stopping…";
      connection.request({ kind: "cancel", job: job.id }).catch(notices.showError);
    });
    const track = h(
      "div",
      { class: "bar", role: "progressbar", "aria-label": job.name, "aria-valuemin": 0, "aria-valuemax": 100 },
      bar,
    );
    const name = job.name.charAt(0).toUpperCase() + job.name.slice(1);
    const element = h(
      "div",
      { class: "job" },
      h("div", { class: "job-head" }, h("strong", { class: "nowrap" }, name), cancel),
      track,
      text,
    );
    host.append(element);
    const view = { element, bar: track, text, job, receivedAt: performance.now() };
    shown.set(job.id, view);
    return view;
  }

  function updateText({ job, text, receivedAt: at }: JobView): void {
    const seconds = job.seconds + (performance.now() - at) / 1000;
    text.textContent = [progressText(job.done, job.total, seconds), job.sentence].filter(Boolean).join(" · ");
  }

  // The elapsed time also advances between two reports.
  setInterval(() => shown.forEach(updateText), 500);

  connection.on("job", (job) => {
    if (job.state !== "running") {
      shown.get(job.id)?.element.remove();
      shown.delete(job.id);
      if (job.state === "failed") notices.show("error", job.sentence || `${job.name} failed.`);
      else if (job.state === "cancelled") notices.show("info", `${job.name}: cancelled. Nothing was changed.`);
      else if (job.sentence) notices.show("info", job.sentence);
      return;
    }
    const view = shown.get(job.id) ?? createView(job);
    const { bar } = view;
    view.job = job;
    view.receivedAt = performance.now();
    const known = job.total > 0;
    const percent = known ? Math.min(100, (100 * job.done) / job.total) : 0;
    bar.classList.toggle("unknown", !known);
    bar.style.setProperty("--done", String(percent / 100));
    if (known) bar.setAttribute("aria-valuenow", percent.toFixed(0));
    else bar.removeAttribute("aria-valuenow");
    updateText(view);
  });
  // A restarted server does not know the jobs of the old one.
  connection.on("hello", () => {
    for (const job of shown.values()) job.element.remove();
    shown.clear();
  });
}
