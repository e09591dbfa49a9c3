/**
 * `npm run seed -- small|year`: a household to work with, as a copy that Roost imports. The same
 * size gives the same household every time.
 */
import { mkdirSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { householdFileName } from '../../src/page/exports/methods.ts';
import { isSeedSize, SEED_SIZES, writeSeed } from './seed/household.ts';

const [size = ''] = process.argv.slice(2);
if (isSeedSize(size)) {
  const folder = fileURLToPath(new URL('../../.dev/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const path = `${folder}${size}-${householdFileName({ exportedAt: Date.now(), sealed: false })}`;
  const { documents, bytes } = await writeSeed({ size, path, exportedAt: Date.now() });
  process.stdout.write(`
  ${relative(process.cwd(), path)}: ${documents.toLocaleString('en')} documents, ${(bytes / 1e6).toFixed(1)} MB

  Open it:  npm run dev, open the link, then Settings, Devices and data, Import, and choose this file.
  Begin with nothing again:  stop npm run dev, remove .dev/home, and clear this address's data in the browser.

`);
} else {
  process.stderr.write(`Say how much: npm run seed -- ${Object.keys(SEED_SIZES).join('|')}\n`);
  process.exitCode = 2;
}
