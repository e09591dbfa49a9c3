/** A note before files are sent: which of them the answering model cannot receive. */
import { readsOf } from '../../../shared/domain/prices.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import { t } from '../../language/t.ts';
import type { HouseholdState } from '../../state/household.ts';
import type { PreparedFile } from '../../state/attachments.ts';
import { count, names } from '../text/sizes.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { useRehearsing } from '../models/chip.tsx';
import { modelName } from '../models/names.ts';
import { useQuery } from '../hooks.ts';

// Determines which of these files a model cannot receive.

/** The properties of an unsent file that matter to its reader. */
interface Sent {
  readonly name: string;
  readonly mediaType: string;
  /** Pages of a PDF; left out: unknown. */
  readonly pages?: number | undefined;
}

/** As sentences; null: the model can receive all of them. `demo`: no model is connected. */
export function sightNote(
  model: 'demo' | { readonly id: string; readonly name: string },
  files: readonly Sent[],
): string | null {
  if (model === 'demo') {
    const unseen = files.filter(({ mediaType }) => mediaType !== 'text/plain');
    if (unseen.length === 0) return null;
    return t`No model is connected. The demo reads only the names of files.`;
  }
  const most = readsOf(model.id)?.pdfPages ?? Infinity;
  const long = files.filter(({ pages = 0 }) => pages > 0);
  const pages = long.reduce((sum, each) => sum + (each.pages ?? 0), 0);
  if (pages <= most) return null;
  const which = names(long.map(({ name }) => name));
  return t`${which}: ${count(pages)} pages. ${model.name} reads ${count(most)} at once, and would be told only the name. Attach less, or choose a model that reads more.`;
}

/** Is the agent driven by an ACP agent? That reports itself what it can receive. */
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
    <p className="attached-note ink-2 text-2" role="status">
      {note}
    </p>
  );
}
