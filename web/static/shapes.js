// The five shapes. Each draws one picture in a square from -1 to 1 from what is now: the level (0 to 1), its recent
// history, the turned angle, the time, and how much of it is thinking. They keep nothing between two pictures.

const ROUND = Math.PI * 2;

/** @typedef {{level: number, voice: number, turn: number, time: number, mood: number, history: Float32Array,
 *   colours: string[], night: boolean}} Now */

// Each strand of the aura turns at its own rate, every other one the other way round.
export const STRANDS = [
  { rate: 1.0, lobes: 2, lean: 0.0, colour: 0 },
  { rate: -0.83, lobes: 3, lean: 1.9, colour: 1 },
  { rate: 1.31, lobes: 2, lean: 3.1, colour: 2 },
  { rate: -1.13, lobes: 3, lean: 4.4, colour: 0 },
  { rate: 0.71, lobes: 4, lean: 5.2, colour: 1 },
  { rate: -0.59, lobes: 2, lean: 0.8, colour: 2 },
];
const POINTS = 84;

/** @param {CanvasRenderingContext2D} pen @param {Now} now */
function aura(pen, now) {
  const breath = Math.sin(now.time * 1.1) * 0.012 + Math.sin(now.time * 3.4) * 0.03 * now.mood;
  const radius = 0.52 + 0.13 * now.level + breath;
  // Where the strands lie close together at rest, each is thinner, or they would add up to white or to mud.
  const ink = (now.night ? 0.62 : 0.76) + 0.3 * now.level;
  glow(pen, now, radius);
  // By night light is added to light; by day to multiply would make grey of three colours, so the strands lie over one another.
  if (now.night) pen.globalCompositeOperation = "lighter";
  for (const strand of STRANDS) {
    const angle = now.turn * strand.rate * 2 + strand.lean;
    const swing = 0.045 + 0.17 * now.level + 0.03 * now.mood;
    const shade = pen.createConicGradient(angle * 1.3, 0, 0);
    const colour = now.colours[strand.colour];
    const next = now.colours[(strand.colour + 1) % 3];
    shade.addColorStop(0, faded(colour, 0.5 * ink));
    shade.addColorStop(0.3, faded(next, 0.12 * ink));
    shade.addColorStop(0.55, faded(colour, 0.38 * ink));
    shade.addColorStop(0.8, faded(next, 0.07 * ink));
    shade.addColorStop(1, faded(colour, 0.5 * ink));
    pen.beginPath();
    ring(pen, (at) => radius + swing * wave(at, angle, strand) + 0.02);
    ring(pen, (at) => (radius + swing * wave(at, angle + 0.5, strand)) * 0.82 - 0.05 * now.level);
    pen.fillStyle = shade;
    pen.fill("evenodd");
    pen.beginPath();
    ring(pen, (at) => radius + swing * wave(at, angle, strand) + 0.02);
    pen.lineWidth = 0.007;
    pen.strokeStyle = shade;
    pen.stroke();
  }
}

function wave(at, angle, { lobes, lean }) {
  return 0.62 * Math.sin(lobes * (at - angle)) + 0.38 * Math.sin((lobes + 1) * at + angle * 1.7 + lean);
}

function ring(pen, radiusAt) {
  for (let i = 0; i <= POINTS; i++) {
    const at = (i / POINTS) * ROUND;
    const r = Math.min(0.98, radiusAt(at));
    if (i) pen.lineTo(Math.cos(at) * r, Math.sin(at) * r);
    else pen.moveTo(r, 0);
  }
  pen.closePath();
}

function glow(pen, now, radius) {
  const light = pen.createRadialGradient(0, 0, radius * 0.15, 0, 0, 1);
  const strength = (now.night ? 0.2 : 0.16) + 0.22 * now.level;
  light.addColorStop(0, faded(now.colours[0], 0.02));
  light.addColorStop(radius * 0.62, faded(now.colours[0], strength * 0.35));
  light.addColorStop(radius, faded(now.colours[1], strength * 0.8));
  light.addColorStop(Math.min(0.97, radius + 0.3), faded(now.colours[2], strength * 0.12));
  light.addColorStop(1, faded(now.colours[2], 0));
  pen.fillStyle = light;
  pen.beginPath();
  pen.arc(0, 0, 1, 0, ROUND);
  pen.fill();
}

function bar(pen, now) {
  const count = 9;
  const middle = (count - 1) / 2;
  for (let i = 0; i < count; i++) {
    const off = Math.abs(i - middle);
    const idle = 0.05 + 0.025 * (1 + Math.sin(now.turn * 9 + i * 0.9)) + 0.06 * now.mood * (1 + Math.sin(now.time * 5 - i));
    const high = Math.min(0.8, idle + now.history[Math.round(off * 2)] * (0.82 - off * 0.11));
    pen.fillStyle = mix(now, off / middle);
    pen.beginPath();
    pen.roundRect((i - middle) * 0.165 - 0.048, -high, 0.096, high * 2, 0.048);
    pen.fill();
  }
}

function grid(pen, now) {
  const count = 9;
  const middle = (count - 1) / 2;
  for (let x = 0; x < count; x++) {
    for (let y = 0; y < count; y++) {
      const far = Math.hypot(x - middle, y - middle) / middle;
      if (far > 1.12) continue;
      const told = now.history[Math.min(now.history.length - 1, Math.round(far * 12))];
      const idle = 0.5 + 0.5 * Math.sin(now.turn * 12 + far * 4 + x * 0.4);
      const pulse = now.mood * (0.5 + 0.5 * Math.sin(now.time * 4 - far * 5));
      const size = 0.02 + 0.012 * idle + 0.02 * pulse + 0.05 * told * (1.15 - far * 0.6);
      pen.globalAlpha = Math.min(1, 0.42 + 0.25 * idle + 0.7 * told + 0.4 * pulse);
      pen.fillStyle = mix(now, far / 1.12);
      pen.beginPath();
      pen.arc((x - middle) * 0.19, (y - middle) * 0.19, size, 0, ROUND);
      pen.fill();
    }
  }
}

function radial(pen, now) {
  const count = 72;
  pen.lineCap = "round";
  pen.lineWidth = 0.02;
  for (let i = 0; i < count; i++) {
    const at = (i / count) * ROUND + now.turn;
    const near = Math.abs(((i / count) * 2) % 2 - 1);
    const told = now.history[Math.round(near * 22)];
    const idle = 0.02 + 0.014 * (1 + Math.sin(i * 1.7 + now.turn * 10));
    const pulse = 0.07 * now.mood * (1 + Math.sin(now.time * 4 + (i / count) * ROUND * 3));
    const long = idle + pulse + told * (0.3 + 0.08 * Math.sin(i * 2.4));
    pen.strokeStyle = mix(now, near);
    pen.beginPath();
    pen.moveTo(Math.cos(at) * (0.5 - long * 0.25), Math.sin(at) * (0.5 - long * 0.25));
    pen.lineTo(Math.cos(at) * (0.53 + long), Math.sin(at) * (0.53 + long));
    pen.stroke();
  }
}

function waves(pen, now) {
  pen.globalCompositeOperation = now.night ? "lighter" : "multiply";
  pen.lineWidth = 0.026;
  pen.lineCap = "round";
  for (let line = 0; line < 4; line++) {
    const swing = (0.05 + 0.04 * now.mood + 0.72 * now.level) * (1 - line * 0.2);
    const way = line % 2 ? -1 : 1;
    pen.strokeStyle = faded(now.colours[line % 3], 0.9 - line * 0.15);
    pen.beginPath();
    for (let i = 0; i <= 96; i++) {
      const x = (i / 96) * 2 - 1;
      const hill = Math.cos((x * Math.PI) / 2) ** 2;
      const y = swing * hill * Math.sin(x * (4.2 + line) + way * (now.turn * 6 + now.time * 0.8 * now.mood) + line);
      if (i) pen.lineTo(x * 0.92, y);
      else pen.moveTo(x * 0.92, y);
    }
    pen.stroke();
  }
}

/** From the second colour by the first to the third: green, blue, pink. Between green and pink itself lies grey. */
function mix(now, share) {
  const [a, b] = share < 0.5 ? [1, 0] : [0, 2];
  const part = Math.round((share < 0.5 ? share : share - 0.5) * 200);
  return `color-mix(in oklab, ${now.colours[a]}, ${now.colours[b]} ${Math.min(100, part)}%)`;
}

function faded(colour, alpha) {
  return colour + Math.round(Math.max(0, Math.min(1, alpha)) * 255).toString(16).padStart(2, "0");
}

export const SHAPES = { aura, bar, grid, radial, wave: waves };
