/** What a run changed in its agent's files: a link to all of it, and a card for each file. */
import { Link } from 'wouter';
import { FileCard, StepsOf } from '../chat/steps.tsx';
import { OWN_FOLDER } from '../../../shared/protocol/endpoints/history.ts';
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

/** Files of one run that are shown as cards. The link leads to all of them. */
const MOST_CARDS = 4;

/** A card for each file that the run left in its agent's folder. One press opens it. */
export function FileCards({ agentId, runId }: { agentId: AgentId; runId: RunId }) {
  const histories = historiesOf(useRoost());
  const history = useQuery(histories.of(agentId));
  const points = history.kind === 'ready' ? history.value.points : [];
  const point = points.find(({ work }) => work.kind === 'run' && work.runId === runId);
  return point ? <CardsOfPoint agentId={agentId} pointId={point.pointId} /> : null;
}

function CardsOfPoint({ agentId, pointId }: { agentId: AgentId; pointId: string }) {
  const state = useQuery(historiesOf(useRoost()).changes(agentId, pointId, 'previous'));
  const changes = state.kind === 'ready' ? state.value.changes : [];
  const files = changes.filter(
    ({ folder, kind, change }) => folder === OWN_FOLDER && kind === 'file' && change !== 'deleted',
  );
  return (
    <StepsOf value={agentId}>
      {files.slice(0, MOST_CARDS).map(({ path }) => (
        <FileCard key={path} file={{ path, preview: '', more: false }} />
      ))}
    </StepsOf>
  );
}
