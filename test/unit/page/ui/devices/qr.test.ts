/** Codes as this page draws them, seen as a camera or a photo would see them. */
import { expect, test } from 'vitest';
import { modulesOf, pathOf, type Pixels, readQr } from '../../../../../src/page/ui/devices/qr-code.tsx';
import { createRandom } from '../../../../support/random.ts';

const OFFER = `ROOST1.${'mVyZ0c3RhcnQtYS1rZXktb2Yt'.repeat(2)}`;
const modules = modulesOf(OFFER);

interface Scene {
  /** px of one module. */
  readonly scale: number;
  /** Radians. */
  readonly turn?: number;
  /** How far a pixel strays, of 255. */
  readonly noise?: number;
  /** Brightness of dark and light, of 255. */
  readonly from?: number;
  readonly to?: number;
  /** Does light fall on it from one side? */
  readonly slant?: boolean;
}

/** The code as pixels, on a table of middle grey, turned about its middle. */
function photo({ scale, turn = 0, noise = 0, from = 10, to = 255, slant = false }: Scene): Pixels {
  const random = createRandom(7);
  const side = Math.ceil(modules.length * scale * (Math.abs(Math.cos(turn)) + Math.abs(Math.sin(turn)))) + 40;
  const data = new Uint8ClampedArray(side * side * 4);
  const [cos, sin, middle] = [Math.cos(turn), Math.sin(turn), side / 2];
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const [dx, dy] = [x + 0.5 - middle, y + 0.5 - middle];
      const column = Math.floor((dx * cos + dy * sin) / scale + modules.length / 2);
      const row = Math.floor((dy * cos - dx * sin) / scale + modules.length / 2);
      const dark = modules[row]?.[column];
      const light = slant ? 0.45 + 0.55 * (x / side) : 1;
      const value = (dark === undefined ? 128 : dark ? from : to) * light + (random() - 0.5) * 2 * noise;
      data.set([value, value, value, 255], (y * side + x) * 4);
    }
  return { width: side, height: side, data };
}

test.each<[string, Scene]>([
  ['as it stands on the screen', { scale: 6 }],
  ['small', { scale: 3 }],
  ['with much noise, as in a dim room', { scale: 6, noise: 70 }],
  ['a little turned', { scale: 5, turn: 0.16, noise: 20 }],
  ['turned by a third of a circle', { scale: 6, turn: 2.1 }],
  ['upside down', { scale: 5, turn: Math.PI }],
  ['grey on grey', { scale: 6, from: 80, to: 170 }],
  ['with light from one side', { scale: 6, slant: true, noise: 12 }],
])('a code is read back %s', (_, scene) => {
  expect(readQr(photo(scene), true)).toBe(OFFER);
});

test('reads no code from a picture without one, or with half of one', () => {
  const whole = photo({ scale: 6 });
  const half = {
    ...whole,
    data: whole.data.map((value, i) => (Math.floor(i / 4) % whole.width > whole.width / 2 ? 255 : value)),
  };
  expect(readQr(half, true)).toBeNull();
  expect(readQr({ ...whole, data: whole.data.map(() => 200) })).toBeNull();
});

test('draws every dark module of a code, and a light margin', () => {
  const drawn = modules.map((row) => row.map(() => false));
  for (const [, x, y, width] of pathOf(modules).matchAll(/M(\d+) (\d+)h(\d+)/g))
    for (let i = 0; i < Number(width); i++) {
      const row = drawn[Number(y)];
      if (row) row[Number(x) + i] = true;
    }
  expect(drawn).toEqual(modules);
  expect(modules.slice(0, 4).flat().some(Boolean)).toBe(false);
});
