/** Draws a birth as a picture to share: face, name, tried names and the first words of the soul. */
import type { Agent } from '../../../shared/domain/agent.ts';
import { isDemoSoul, withoutDisclaimers } from '../../../shared/domain/demo-words.ts';
import { FACE_SIZE, facePixels, HEAD_ROWS } from '../../../shared/domain/face.ts';
import { t } from '../../language/t.ts';
import { triedNames } from '../grid/birth-words.ts';
import { fullDay } from '../text/time.ts';

/** px */
const SIZE = { width: 1080, height: 1350, margin: 90 } as const;
const MOST_LINES = 9;
const FACE = { pixel: 26, top: 120 } as const;
const NIGHT = ['#07090f', '#12142a', '#3a2338', '#c9694a'] as const;
const INK = '#ece9f4';

/** A mix of two `#rrggbb` colours. `share`: of the first, 0 to 1. */
function mix(one: string, other: string, share: number): string {
  const parts = [1, 3, 5].map((at) => {
    const [a, b] = [one, other].map((hex) => Number.parseInt(hex.slice(at, at + 2), 16));
    return Math.round((a ?? 0) * share + (b ?? 0) * (1 - share));
  });
  return `rgb(${parts.join(' ')})`;
}

/** Breaks a text into lines of this width. `measure` returns px. */
export function linesOf(text: string, width: number, measure: (line: string) => number, most: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || measure(longer) <= width) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
    if (lines.length === most) break;
  }
  if (lines.length < most) return line === '' ? lines : [...lines, line];
  const last = lines.at(-1) ?? '';
  return [...lines.slice(0, -1), `${last.replace(/[\s,.;:]+$/, '')}…`];
}

/** The soul as plain text, without tried names and disclaimers. */
export const birthText = (soul: string): string =>
  withoutDisclaimers(soul)
    .replace(/~~[^~\n]+~~[?.,]?/g, '')
    .replace(/[*_`#>]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();

function drawFace(context: CanvasRenderingContext2D, { agentId, face, color }: Agent): void {
  const { pixel, top } = FACE;
  const left = (SIZE.width - FACE_SIZE * pixel) / 2;
  const dot = (x: number, y: number, fill: string) => {
    context.fillStyle = fill;
    context.fillRect(left + x * pixel, top + y * pixel, pixel, pixel);
  };
  for (const [y, from, to] of HEAD_ROWS)
    for (let x = from; x <= to; x++) dot(x, y, mix(color, '#0e111c', y < 4 ? 0.5 : y > 11 ? 0.3 : 0.4));
  for (const { x, y, tone } of facePixels(agentId, face))
    dot(x, y, mix(color, tone === 1 ? '#ffffff' : '#0e111c', 0.78));
}

function drawSky(context: CanvasRenderingContext2D): void {
  const { width, height } = SIZE;
  const sky = context.createLinearGradient(0, 0, 0, height);
  NIGHT.forEach((color, i) => sky.addColorStop([0, 0.45, 0.86, 1][i] ?? 1, color));
  context.fillStyle = sky;
  context.fillRect(0, 0, width, height);
  context.fillStyle = INK;
  for (let i = 0; i < 60; i++) {
    context.globalAlpha = 0.15 + ((i * 37) % 50) / 100;
    context.fillRect((i * 389) % width, (i * 211) % (height * 0.6), 3, 3);
  }
  context.globalAlpha = 1;
}

/** Draws on a new canvas. `host` is shown at the bottom. */
export function drawBirth(agent: Agent): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const { width, height, margin } = SIZE;
  Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d');
  if (!context) return canvas;
  drawSky(context);
  drawFace(context, agent);
  context.textAlign = 'center';
  const middle = width / 2;
  let y = FACE.top + FACE_SIZE * FACE.pixel + 100;
  const write = (text: string, font: string, fill: string, advance: number) => {
    context.font = font;
    context.fillStyle = fill;
    context.fillText(text, middle, y, width - 2 * margin);
    y += advance;
  };
  const tried = triedNames(agent.soul).slice(0, 4);
  if (tried.length > 0) {
    context.font = '34px "Pixelify Sans", monospace';
    const text = tried.join('   ');
    const long = Math.min(context.measureText(text).width, width - 2 * margin);
    write(text, context.font, '#8d95b3', 0);
    context.fillRect(middle - long / 2, y - 12, long, 3);
    y += 96;
  }
  write(agent.name, '104px "Pixelify Sans", monospace', mix(agent.color, '#ffffff', 0.7), 60);
  write(`${agent.colorName} · ${fullDay(agent.bornAt)}`, '30px "Inter Variable", sans-serif', '#b3b9d0', 86);
  const serif = 'italic 38px "Iowan Old Style", Palatino, Georgia, serif';
  context.font = serif;
  const most = Math.min(MOST_LINES, Math.floor((height - 150 - y) / 54));
  const lines = linesOf(birthText(agent.soul), width - 2 * margin, (line) => context.measureText(line).width, most);
  for (const line of lines) write(line, serif, INK, 54);
  y = height - 56;
  write(
    isDemoSoul(agent.soul) ? t`hatched in the demo of Roost` : t`hatched in Roost`,
    '28px "Inter Variable", sans-serif',
    '#ffe3c2',
    0,
  );
  return canvas;
}
