import { screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { birthText, linesOf } from '../../../../../src/page/ui/agent/birth-card.ts';
import { team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';

afterEach(() => void vi.restoreAllMocks());

/** jsdom draws nothing: what would be written on the picture. */
function heardCanvas(picture: Blob | null): string[] {
  const written: string[] = [];
  const context = new Proxy(
    {},
    {
      get: (_target, name) => {
        if (name === 'fillText') return (text: string) => written.push(text);
        if (name === 'measureText') return (text: string) => ({ width: text.length * 20 });
        return () => ({ addColorStop: () => undefined });
      },
      set: () => true,
    },
  );
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
  vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation((done) => done(picture));
  Object.assign(document, { fonts: { load: () => Promise.resolve([]) } });
  Object.assign(URL, { createObjectURL: () => 'blob:birth', revokeObjectURL: () => undefined });
  return written;
}

async function share() {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1/about' });
  await page.user.click(await screen.findByRole('button', { name: 'Share this birth' }));
  await screen.findByRole('dialog', { name: 'The birth of Lyra' });
}

test('the picture of a birth has the name, the day and the first words of the soul, and can be downloaded', async () => {
  const written = heardCanvas(new Blob(['png'], { type: 'image/png' }));
  await share();
  const picture = await screen.findByRole('img', { name: 'The birth of Lyra' });
  expect(picture.getAttribute('src')).toBe('blob:birth');
  expect(written).toContain('Lyra');
  expect(written.some((text) => text.startsWith('I am Lyra'))).toBe(true);
  expect(written.at(-1)).toBe('hatched in Roost');
  expect(screen.getByRole('button', { name: 'Download' })).toHaveProperty('disabled', false);
});

test('says when a browser draws no picture, and offers no download', async () => {
  heardCanvas(null);
  await share();
  expect((await screen.findByRole('alert')).textContent).toBe('This browser could not draw the picture.');
  expect(screen.getByRole('button', { name: 'Download' })).toHaveProperty('disabled', true);
});

test('the words of a birth are plain text without the names that were tried, broken into lines', () => {
  const text = birthText('~~Nym?~~ ~~Ash.~~\n# I am *Lyra*.\n\n> I keep the `bridge`.');
  expect(text).toBe('I am Lyra. I keep the bridge.');
  const measure = (line: string) => line.length;
  expect(linesOf(text, 12, measure, 5)).toEqual(['I am Lyra. I', 'keep the', 'bridge.']);
  expect(linesOf(text, 12, measure, 2)).toEqual(['I am Lyra. I', 'keep the…']);
});
