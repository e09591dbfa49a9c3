/**
 * What of a file would change somebody who lives here: the name, the soul, the seat, the birth,
 * whether it is retired.
 */
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Agent } from '../../../shared/domain/agent.ts';
import { isSameName } from '../../../shared/domain/names.ts';
import { LEAD_ID, seatNumber } from '../../../shared/domain/seat.ts';
import type { AgentChangeDoc, AgentIdentityDoc } from '../../../shared/protocol/documents.ts';
import type { ArchiveChange, ShownAgent } from '../types.ts';
import { rosterFrom, settingsFrom, union, type Deciding } from './newest.ts';

/** Shows a change, and holds the documents of these ids until it is ticked. */
export type Offer = (change: ArchiveChange, ids: Iterable<string>) => void;
export type Shown = (agent: Agent) => ShownAgent;

/** As it decides: retiring and returning are one. */
const ASPECTS = { rename: 'name', seat: 'seat', retire: 'retired', return: 'retired', soul: 'soul' } as const;
const valueOf = {
  name: ({ name }: Agent) => name,
  soul: ({ soul }: Agent) => soul,
  seat: ({ position }: Agent) => position,
  retired: ({ retired }: Agent) => retired,
};
type Aspect = keyof typeof valueOf;

const aspectTick = (aspect: Aspect, agentId: AgentId) => `${aspect}:${agentId}`;

export interface Changed {
  readonly _id: string;
  readonly agentId: AgentId;
  readonly aspect: Aspect;
}
/** As far as it decides. */
export const changeOf = ({ _id, agentId, change }: AgentChangeDoc): Changed => ({
  _id,
  agentId,
  aspect: ASPECTS[change.kind],
});

export function offerAgents(
  here: Deciding,
  file: Deciding,
  births: readonly AgentIdentityDoc[],
  changed: readonly Changed[],
  shown: Shown,
  offer: Offer,
) {
  const before = rosterFrom(here);
  const renamed = rosterFrom({ identities: here.identities, changes: union(here, file).changes });
  const reborn = rosterFrom({ identities: union(here, file).identities, changes: here.changes });
  const idsOf = (tick: string) =>
    changed.filter(({ agentId, aspect }) => aspectTick(aspect, agentId) === tick).map(({ _id }) => _id);
  for (const [agentId, agent] of before.byId) {
    const [later, other] = [renamed.byId.get(agentId), reborn.byId.get(agentId)];
    for (const aspect of ['name', 'soul', 'seat', 'retired'] as const) {
      const tick = aspectTick(aspect, agentId);
      if (!later || valueOf[aspect](agent) === valueOf[aspect](later)) continue;
      offer({ kind: 'agent', tick, what: aspect, agentId, here: shown(agent), after: shown(later) }, idsOf(tick));
    }
    const mine = births.filter((birth) => birth.agentId === agentId).map(({ _id }) => _id);
    if (
      mine.length > 0 &&
      other &&
      (other.birthName !== agent.birthName ||
        other.bornAt !== agent.bornAt ||
        other.soul !== agent.soul ||
        other.position !== agent.position)
    )
      offer({ kind: 'birth', tick: `birth:${agentId}`, agentId, here: shown(agent), after: shown(other) }, mine);
  }
}

/**
 * Where another is called so too, here or in the file, to the eye, or the person is, with the seat.
 */
export function shownAmong(here: Deciding, file: Deciding): Shown {
  const both = union(here, file);
  const all = [here, file, both].flatMap((deciding) => [...rosterFrom(deciding).byId.values()]);
  const persons = [here, both].map((deciding) => settingsFrom(deciding).humanName);
  const isAlike = ({ agentId, name }: Agent) =>
    all.some((other) => other.agentId !== agentId && isSameName(other.name, name)) ||
    persons.some((person) => person !== null && isSameName(person, name));
  const seatOf = ({ agentId, position }: Agent) =>
    agentId === LEAD_ID ? 'the lead' : position === null ? 'without a seat' : `seat ${seatNumber(position)}`;
  return (agent) => {
    const { name, position, soul, retired } = agent;
    return {
      name: isAlike(agent) ? `${name} (${seatOf(agent)})` : name,
      position,
      soul,
      retired,
    };
  };
}

/** Who comes new and was born before somebody who sits, in the same seat. */
export function seatsTaken(here: Deciding, file: Deciding, shown: Shown) {
  const before = rosterFrom(here);
  const isNew = ({ agentId }: { readonly agentId: AgentId }) => !before.byId.has(agentId);
  const after = rosterFrom({
    identities: [...here.identities, ...file.identities.filter(isNew)],
    changes: [...here.changes, ...file.changes.filter(isNew)],
  });
  return [...before.seats].flatMap(([position, sat]) => {
    const sits = after.seats.get(position);
    return !sits || sits.agentId === sat.agentId || !isNew(sits)
      ? []
      : [{ agentId: sits.agentId, name: shown(sits).name, position, here: shown(sat).name }];
  });
}
