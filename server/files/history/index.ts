/**
 * The history of agents' files: recorded before and after work, compared, and restored.
 *
 * One bare git repository for each agent, outside every workspace, holds what was recorded.
 * `record.ts` reads folders, `restore.ts` writes them, `repository.ts` stores points, and
 * `listing.ts` compares. `recording.ts` says when, `points.ts` answers the page.
 *
 * Main type: `Histories`.
 *
 * Invariants:
 * - Git never looks into an agent's folder. The relay reads and writes there itself, and follows no
 *   link.
 * - Nothing is restored before the present state is recorded, and an entry that is not recorded is
 *   never replaced or removed.
 * - A failed recording never stops work. The person is told which work it was.
 *
 * It does not know what a run or a session is: work is a label.
 */
import type { Histories, HistoriesDeps } from './contract.ts';
import { createPoints } from './points.ts';
import { createRecording } from './recording.ts';
import { createRestoring } from './restoring.ts';
import { createShadows } from './shadows.ts';

export { GitError } from '../../platform/git/index.ts';
export { type Histories, type HistoriesDeps, HistoryError, type RecordedFolder } from './contract.ts';

export function createHistories(deps: HistoriesDeps): Histories {
  const shadows = createShadows(deps);
  const { forget, bytes, keepTidy, close } = shadows;
  const recording = createRecording(deps, shadows);
  const { pointOf, ...shown } = createPoints(deps, shadows);
  return {
    record: recording.record,
    ...shown,
    ...createRestoring(deps, shadows, recording, { pointOf }),
    forget,
    bytes,
    keepTidy,
    close,
  };
}
