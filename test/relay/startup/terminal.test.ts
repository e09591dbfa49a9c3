import { EventEmitter } from 'node:events';
import decodeQR from 'qr/decode.js';
import { describe, expect, it } from 'vitest';
import { codeText, createTerminal } from '../../../server/startup/terminal.ts';

const LINK = 'https://roost.example.ts.net/enter?code=kX3_8vQ0n2yZ5rTq7wLbA1cD4eF6gH9iJ-mNpPsUxYo';
/** Pixels of a module, as a camera would see them. */
const SCALE = 4;

/** What a camera reads from such a picture on a terminal. */
function look(text: string): string {
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(line.indexOf('m') + 1, line.lastIndexOf('\u001b')));
  const lights = rows.flatMap((row) => [
    [...row].map((cell) => '█▀'.includes(cell)),
    [...row].map((cell) => '█▄'.includes(cell)),
  ]);
  const [width, height] = [(lights[0]?.length ?? 0) * SCALE, lights.length * SCALE];
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      data.fill(
        lights[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)] ? 255 : 0,
        (y * width + x) * 4,
        (y * width + x) * 4 + 3,
      );
  return decodeQR({ width, height, data });
}

function sit({ screen = true, keyboard = true, reachable = true } = {}) {
  const input = Object.assign(new EventEmitter(), { isTTY: keyboard });
  const said: string[] = [];
  const told: string[] = [];
  const terminal = createTerminal({
    input,
    output: { isTTY: screen, write: (text: string) => said.push(text) },
    newLink: () => Promise.resolve(LINK),
    reachable,
    tell: (line) => told.push(line),
  });
  terminal.listen();
  return {
    terminal,
    said,
    told,
    async type(text: string) {
      input.emit('data', Buffer.from(text));
      await new Promise(setImmediate);
    },
  };
}
const PLAIN = `\n  Open Roost:  ${LINK}\n\n`;

describe('at the terminal', () => {
  it('a link is printed as a code that a camera reads', () => {
    expect(look(codeText(LINK))).toBe(LINK);
    expect(
      Math.max(
        ...codeText(LINK)
          .split('\n')
          .map((line) => line.length),
      ),
      'fits on 80 columns',
    ).toBeLessThan(80);
  });

  it('Enter prints a fresh link, with its code where other machines are let in', async () => {
    const open = sit();
    await open.type('\n');
    expect(open.said.join('')).toContain(PLAIN);
    expect(look(open.said.join('').slice(PLAIN.length))).toBe(LINK);
    const local = sit({ reachable: false });
    await local.type('\n');
    expect(local.said).toEqual([PLAIN]);
    await local.type('q\n');
    expect(look(local.said.slice(1).join('').slice(PLAIN.length))).toBe(LINK);
  });

  it('prints only the link when the output is no terminal, and asks nobody without a keyboard', async () => {
    const { terminal, said, told, type } = sit({ screen: false, keyboard: false });
    await terminal.show({ code: true });
    await type('\n');
    expect([said, told]).toEqual([[PLAIN], []]);
  });
});
