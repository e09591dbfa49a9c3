/** Before files are sent: what the model that answers here cannot be shown of them. */
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { HouseholdState } from '../../state/household.ts';
import type { PreparedFile } from '../../state/attachments.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { useRehearsing } from '../models/chip.tsx';
import { modelName } from '../models/words.ts';
import { useQuery } from '../use-query.ts';
import { sightNote } from './sight.ts';

/** Is an ACP agent its mind? What that can be shown, it says itself. */
function hasProgram(records: HouseholdState['records'], agentId: AgentId): boolean {
  for (const doc of records.values()) {
    if (!isKnown(doc) || doc.type !== 'limits') continue;
    const { coordination } = doc.value.config;
    const isTheirs = doc.value.agentId === agentId || doc.value.agentId === null;
    if (
      isTheirs &&
      typeof coordination === 'object' &&
      coordination !== null &&
      'mind' in coordination &&
      coordination.mind
    )
      return true;
  }
  return false;
}

export default function SightNote({ files, reader }: { files: readonly PreparedFile[]; reader: AgentId }) {
  const rehearsing = useRehearsing();
  const models = useQuery(useRoost().models.query);
  const key = reader === LEAD_ID ? 'leadModel' : 'agentModel';
  const own = useHousehold(
    ({ roster }) => [...roster.seats.values(), ...roster.waiting].find(({ agentId }) => agentId === reader)?.model,
  );
  const chosen = useHousehold((state) => state.settings[key]);
  const running = useLive((live) => (live.live ? live.session?.mind[key] : undefined));
  const [first] = models.kind === 'ready' ? models.value.connections : [];
  const id = own || running || chosen || first?.[key] || '';
  const program = useHousehold(({ records }) => hasProgram(records, reader));
  const note = program
    ? null
    : sightNote(rehearsing ? 'demo' : { id, name: modelName(id, first?.models ?? []) }, files);
  return note === null ? null : (
    <p className="attached-note" role="status">
      {note}
    </p>
  );
}
