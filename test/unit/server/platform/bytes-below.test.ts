import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bytesBelow } from '../../../../server/platform/bytes-below.ts';

const FOLDERS = 300;

async function tree(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-bytes-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (let i = 0; i < FOLDERS; i += 1) {
    const deep = join(folder, String(i), 'a', 'b');
    await mkdir(deep, { recursive: true });
    await writeFile(join(deep, 'file'), 'four');
  }
  return folder;
}

it('counts the files below a folder, and nothing behind a link', async () => {
  const [folder, other] = [await tree(), await tree()];
  await symlink(other, join(folder, 'out'));
  await symlink(join(other, '1', 'a', 'b', 'file'), join(folder, 'file'));
  expect(await bytesBelow(folder)).toBe(FOLDERS * 4);
  expect(await bytesBelow(join(folder, 'nowhere'))).toBe(0);
});

it('counts on where folders are deleted meanwhile', async () => {
  const folder = await tree();
  const counted = bytesBelow(folder);
  await Promise.all(
    Array.from({ length: FOLDERS }, (_, i) => rm(join(folder, String(i)), { recursive: true, force: true })),
  );
  expect(await counted).toBeLessThanOrEqual(FOLDERS * 4);
});
