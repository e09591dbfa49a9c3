import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { GIT } from '../../../../../server/projects/checkouts/switching.ts';

it('Git in a checkout takes no folder for a repository that an agent has filled to look like one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'roost-bare-'));
  try {
    const marker = join(folder, 'was-here');
    const place = join(folder, 'work');
    for (const name of ['objects', 'refs/heads']) mkdirSync(join(place, name), { recursive: true });
    writeFileSync(join(place, 'HEAD'), 'ref: refs/heads/main\n');
    const settings = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${place}\n[filter "x"]\n\tclean = touch ${marker}; cat\n`;
    writeFileSync(join(place, 'config'), settings);
    writeFileSync(join(place, '.gitattributes'), '* filter=x\n');
    const run = (git: string) => spawnSync('bash', ['-c', `${git} add -A`], { cwd: place, encoding: 'utf8' });
    expect(run(GIT).stderr).toMatch(/bare repository/);
    expect(existsSync(marker)).toBe(false);
    run('git');
    expect(existsSync(marker)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
