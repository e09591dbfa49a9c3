/** A link to what a run changed in its agent's files. */
import { Link } from 'wouter';
import type { AgentId, RunId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { historiesOf } from '../../state/history.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { PATHS } from '../routes.ts';
import { countsText } from './history-words.ts';

/** Shows nothing where the run changed no file. */
export function FilesOfRun({ agentId, runId }: { agentId: AgentId; runId: RunId }) {
  const history = useQuery(historiesOf(useRoost()).of(agentId));
  if (history.kind !== 'ready') return null;
  const point = history.value.points.find(({ work }) => work.kind === 'run' && work.runId === runId);
  if (!point) return null;
  return <Link href={PATHS.filesOfRun(agentId, runId)}>{t`What this run changed: ${countsText(point.counts)}`}</Link>;
}
