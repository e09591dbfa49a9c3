/** Settings: who sits where, who waits for a seat, who retired. */
import { useState } from 'react';
import { Link } from 'wouter';
import { type Agent, type ChangeKind, displayName, emptySeats } from '../../../shared/domain/agent.ts';
import { lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition, SEAT_ORDER, seatColor, seatNumber } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { moveToSeat } from '../../state/groups.ts';
import { useActions, useHousehold, useLive, useRoost } from '../context.tsx';
import { Empty } from '../design/list.tsx';
import { Face } from '../grid/face.tsx';
import { PATHS } from '../routes.ts';
import { fullTime } from '../text/time.ts';
import { asBeginning } from '../text/sizes.ts';

function useChange() {
  const actions = useActions();
  const { notices } = useRoost();
  return async (agent: Agent, changes: readonly ChangeKind[], said: string, undo: readonly ChangeKind[]) => {
    const done = await actions.changeAgent(agent.agentId, changes);
    if (!done.ok) notices.error(t`Could not save this. ${done.reason}`);
    else notices.info(said, { label: t`Undo`, run: () => void actions.changeAgent(agent.agentId, undo) });
  };
}

function GiveSeat({ agent }: { agent: Agent }) {
  const roster = useHousehold((state) => state.roster);
  const births = useLive((state) => state.live?.births);
  const change = useChange();
  const free = emptySeats(roster).filter((position) => !births?.has(position));
  const [chosen, setChosen] = useState<number | null>(null);
  const seat = chosen ?? free[0] ?? null;
  if (seat === null)
    return <p className="setting-hint">{t`Every seat is taken. A seat becomes free when an agent retires.`}</p>;
  return (
    <div className="setting-row">
      <label>
        <span className="visually-hidden">{t`Seat of ${agent.name}`}</span>
        <select className="field field-select" value={seat} onChange={(event) => setChosen(Number(event.target.value))}>
          {free.map((position) => (
            <option key={position} value={position}>
              {t`Seat ${seatNumber(position)} · ${seatColor(position).colorName}`}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="ghost"
        onClick={() => {
          const there: ChangeKind = { kind: 'seat', position: seat };
          const back: ChangeKind = { kind: 'seat', position: agent.position };
          const said = t`${agent.name} has seat ${seatNumber(seat)} now.`;
          if (agent.retired) void change(agent, [there, { kind: 'return' }], said, [{ kind: 'retire' }, back]);
          else void change(agent, [there], said, [back]);
        }}
      >
        {t`Give a seat`}
      </button>
    </div>
  );
}

function Row({ agent, children }: { agent: Agent; children: React.ReactNode }) {
  const roster = useHousehold((state) => state.roster);
  return (
    <li className="gap-4 pad box cluster tint" style={{ '--c': agent.color }}>
      <span className="size-l">
        <Face agentId={agent.agentId} face={agent.face} color={agent.color} awake={false} />
      </span>
      <div className="team-who grow">
        <Link href={PATHS.agent(agent.agentId)}>{displayName(agent, roster)}</Link>
        <small className="text-2 block">
          {[
            ...(isSeatPosition(agent.position) && roster.seats.get(agent.position)?.agentId === agent.agentId
              ? [t`seat ${seatNumber(agent.position)}`]
              : []),
            t`born ${fullTime(agent.bornAt)}`,
          ].join(' · ')}
        </small>
      </div>
      {children}
    </li>
  );
}

/** An agent's seat. The agent who has the chosen seat takes the one it leaves. */
function SeatOf({ agent, position }: { agent: Agent; position: number }) {
  const roost = useRoost();
  const roster = useHousehold((state) => state.roster);
  return (
    <label>
      <span className="visually-hidden">{t`Seat of ${displayName(agent, roster)}`}</span>
      <select
        className="field field-select"
        value={position}
        onChange={({ target }) => {
          const chosen = Number(target.value);
          if (isSeatPosition(chosen)) void moveToSeat(roost, agent.agentId, chosen);
        }}
      >
        {SEAT_ORDER.map((seat) => {
          const there = roster.seats.get(seat);
          return (
            <option key={seat} value={seat}>
              {there && seat !== position
                ? t`Seat ${seatNumber(seat)}, with ${displayName(there, roster)}`
                : asBeginning(t`seat ${seatNumber(seat)}`)}
            </option>
          );
        })}
      </select>
    </label>
  );
}

/** All agents: in their seats, waiting for one, or retired. */
export function TeamSection() {
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const actions = useActions();
  const change = useChange();
  const seated = [...roster.seats].sort(([a], [b]) => a - b);
  return (
    <>
      <p className="settings-note under-6 ink-2 text-3">{t`Retired agents keep everything and can return. To delete one, open its page.`}</p>
      <h3>{t`In their seats`}</h3>
      {seated.length === 0 && <Empty>{t`There is no agent yet. SUMMON first.`}</Empty>}
      <ul className="above-5 stack gap-4">
        {seated.map(([position, agent]) => (
          <Row key={agent.agentId} agent={agent}>
            <SeatOf agent={agent} position={position} />
            <button
              type="button"
              className="ghost"
              disabled={lifecycleOf(agent, position, live) !== 'sleeping'}
              title={lifecycleOf(agent, position, live) === 'sleeping' ? undefined : t`Put to sleep first`}
              onClick={() => {
                // An agent that was put to sleep is still in the session.
                if (live?.awake.has(agent.agentId)) void actions.sleep(agent.agentId);
                void change(agent, [{ kind: 'retire' }], t`${agent.name} is retired. The seat is free.`, [
                  { kind: 'return' },
                ]);
              }}
            >{t`Retire`}</button>
          </Row>
        ))}
      </ul>
      {roster.waiting.length > 0 && (
        <>
          <h3>{asBeginning(t`waits for a seat`)}</h3>
          <ul className="above-5 stack gap-4">
            {roster.waiting.map((agent) => (
              <Row key={agent.agentId} agent={agent}>
                <GiveSeat agent={agent} />
              </Row>
            ))}
          </ul>
        </>
      )}
      {roster.retired.length > 0 && (
        <>
          <h3>{asBeginning(t`retired`)}</h3>
          <ul className="above-5 stack gap-4">
            {roster.retired.map((agent) => (
              <Row key={agent.agentId} agent={agent}>
                <GiveSeat agent={agent} />
              </Row>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
