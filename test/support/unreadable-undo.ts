/**
 * Undo in a folder with files that its own user may not read, as its own process: root reads
 * everything. Writes what became of them as JSON.
 */
import { chmodSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT, createUndoPlace } from './undo.ts';

export interface UnreadableEnds {
  readonly isRoot: boolean;
  /** Paths that are named as not recorded, and why. */
  readonly unrecorded: readonly string[];
  /** Paths that a restore left as they were. */
  readonly left: readonly string[];
  /** By path: permissions, and the content. After the run was undone, and after the undo was. */
  readonly undone: Readonly<Record<string, string>>;
  readonly redone: Readonly<Record<string, string>>;
}

const place = await createUndoPlace();
const histories = place.histories();
const folder = place.folders[0]?.path ?? '';
const at = (path: string) => join(folder, path);
writeFileSync(at('locked-before.txt'), 'locked before');
chmodSync(at('locked-before.txt'), 0o000);
writeFileSync(at('locked-by-run.txt'), 'as it was');
writeFileSync(at('plain.txt'), 'as it was');
mkdirSync(at('locked-folder'));
writeFileSync(at('locked-folder/inner.txt'), 'as it was');

const end = await histories.record(AGENT, { kind: 'run', runId: 'r1', cause: { kind: 'pulse', routine: 'x' } });
writeFileSync(at('plain.txt'), 'changed');
writeFileSync(at('locked-by-run.txt'), 'changed');
chmodSync(at('locked-by-run.txt'), 0o000);
writeFileSync(at('locked-folder/inner.txt'), 'changed');
chmodSync(at('locked-folder'), 0o000);
await end();

const pointId = (await histories.list(AGENT, null)).points[0]?.pointId ?? '';
const { notRecorded } = await histories.changes(AGENT, pointId, 'previous');
/** Permissions are put back, because the next restore meets them. */
function look(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const path of ['locked-before.txt', 'locked-by-run.txt', 'locked-folder/inner.txt', 'plain.txt']) {
    const above = path.includes('/') ? at('locked-folder') : null;
    const modeAbove = above === null ? 0 : lstatSync(above).mode & 0o777;
    if (above !== null) chmodSync(above, 0o700);
    const mode = lstatSync(at(path)).mode & 0o777;
    chmodSync(at(path), 0o600);
    files[path] =
      `${above === null ? '' : `${modeAbove.toString(8)}/`}${mode.toString(8)} ${readFileSync(at(path), 'utf8')}`;
    chmodSync(at(path), mode);
    if (above !== null) chmodSync(above, modeAbove);
  }
  return files;
}
const restored = await histories.restore(AGENT, pointId, 'before', null);
const undone = look();
const again = await histories.restore(AGENT, restored.pointId ?? '', 'before', null);
const ends: UnreadableEnds = {
  isRoot: process.getuid?.() === 0,
  unrecorded: notRecorded.map(({ path, why }) => `${path} ${why}`),
  left: [...restored.left, ...again.left].map(({ path }) => path),
  undone,
  redone: look(),
};
await histories.close();
chmodSync(at('locked-folder'), 0o700);
await place.remove();
// The thread that starts programs would keep this one alive.
process.stdout.write(JSON.stringify(ends), () => process.exit(0));
