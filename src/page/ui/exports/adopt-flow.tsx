/** Adopting an agent from a file: preview, changes that need a tick, name and seat. */
import { type ReactNode, useEffect, useId, useState } from 'react';
import { LEAD_ID, seatColor, seatNumber, type SeatPosition } from '../../../shared/domain/seat.ts';
import { emptySeats } from '../../../shared/domain/agent.ts';
import { checkName, shownText } from '../../../shared/domain/names.ts';
import {
  adoptAgent,
  type AgentWarning,
  aheadOf,
  type Applicant,
  type ImportChange,
  type ExportProgress,
  readAgent,
  type Welcoming,
} from '../../state/exports.ts';
import { rosterOfDocs } from '../../state/household.ts';
import { retold, t } from '../../language/t.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { Diff } from '../parts/diff.tsx';
import { changeDetails, changeText, neverText, unfitText } from '../text/record-changes.ts';
import { Progress } from '../design/progress.tsx';
import { SelectField, TextField, WrongNote } from '../design/field.tsx';
import { names, plural } from '../text/sizes.ts';
import { Words } from '../chat/markdown.tsx';
import { Face } from '../grid/face.tsx';
import { PATHS, useRoute } from '../routes.ts';

const NEW_AGENT = t`a new agent with the same soul and memories`;

/** How an agent of the file relates to one who is here already. */
function useRelation({ parsed, comparison, consents }: Applicant) {
  const roster = useHousehold((state) => state.roster);
  const identities = useHousehold((state) => state.identities);
  const changes = useHousehold((state) => state.changes);
  const { agentId } = parsed;
  if (agentId === null) return { kind: 'nobody-yet' } as const;
  if (agentId === LEAD_ID) return { kind: 'lead' } as const;
  const agent = roster.byId.get(agentId);
  if (agent)
    return {
      kind: 'here',
      agent,
      fresh: (comparison?.fresh ?? []).filter((id) => !consents.needs.has(id)).length,
    } as const;
  const leaving = rosterOfDocs(identities.values(), changes.values()).byId.get(agentId);
  if (leaving) return { kind: 'leaving', name: leaving.name } as const;
  if ((comparison?.forgotten ?? 0) > 0) return { kind: 'forgotten' } as const;
  return { kind: 'away' } as const;
}

const Relation = ({ children }: { children: ReactNode }) => <p className="ink-2">{children}</p>;

interface Props {
  readonly changes: readonly ImportChange[];
  readonly ticks: ReadonlySet<string>;
  readonly onTicks: (ticks: ReadonlySet<string>) => void;
}

/** A soul, a prompt or a routine as it would be, compared with the current one. */
function Details({ change }: { change: ImportChange }) {
  const texts = changeDetails(change);
  if (!texts) return null;
  return (
    <details>
      <summary className="text-2 touchable">{t`Details`}</summary>
      <Diff {...texts} />
    </details>
  );
}

/** The changes that a file would make here: one tick each, none set by default. */
export function Changes({ changes, ticks, onTicks }: Props) {
  if (changes.length === 0) return null;
  const choose = (tick: string, wanted: boolean) =>
    onTicks(new Set(wanted ? [...ticks, tick] : [...ticks].filter((held) => held !== tick)));
  return (
    <fieldset>
      <legend>{t`Changes to what is here`}</legend>
      <ul className="stack gap-1 short scroll">
        {changes.map((change) => (
          <li key={change.tick}>
            <label className="tick-line">
              <input
                type="checkbox"
                checked={ticks.has(change.tick)}
                onChange={(event) => choose(change.tick, event.target.checked)}
              />
              <span dir="auto">{changeText(change)}</span>
            </label>
            <Details change={change} />
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

/** Progress of long work on files, with a cancel button. */
export function Work({
  label,
  progress,
  onCancel,
}: {
  label: string;
  progress: (Pick<ExportProgress, 'done' | 'of'> & { readonly stage?: string }) | null;
  onCancel: () => void;
}) {
  const isKey = progress?.stage === 'key';
  const { done, of } = progress && !isKey ? progress : { done: 0, of: 0 };
  return (
    <div className="stack at-start gap-5">
      <Progress label={isKey ? t`Working…` : label} done={done} of={of} />
      <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
    </div>
  );
}

function warningText(warning: AgentWarning): string {
  switch (warning.kind) {
    case 'several-souls':
      return t`The soul is from ${shownText(warning.taken)}, not from ${names(warning.others.map(shownText))}.`;
    case 'soul-edited':
      return t`SOUL.md differs from the stored soul. A new agent gets the words of SOUL.md.`;
    case 'other-encoding':
      return t`${shownText(warning.path)} was read as Windows-1252. Check its letters.`;
    case 'unreadable':
      return t`${shownText(warning.path)}: ${shownText(retold(warning.reason))}`;
    case 'never':
      return neverText(warning.documents);
    case 'unfit':
      return unfitText(warning.documents);
    default:
      return warning satisfies never;
  }
}

function Form({
  applicant,
  wanted,
  onAdopt,
  busy,
}: {
  applicant: Applicant;
  wanted: SeatPosition | null;
  onAdopt: (welcoming: Welcoming, name: string) => void;
  busy: boolean;
}) {
  const { device } = useRoost();
  const id = useId();
  const roster = useHousehold((state) => state.roster);
  const births = useLive((state) => state.live?.births);
  const humanName = useHousehold((state) => state.settings.humanName);
  const relation = useRelation(applicant);
  const { parsed } = applicant;
  const free = emptySeats(roster).filter((position) => !births?.has(position));
  const [chosen, setChosen] = useState<SeatPosition | null>(wanted);
  const position = chosen !== null && free.includes(chosen) ? chosen : (free[0] ?? null);
  const [name, setName] = useState(parsed.name ?? '');
  const [newId] = useState(() => device.newId());
  const canBeItself = relation.kind === 'here' || relation.kind === 'away';
  const [asNew, setAsNew] = useState(!canBeItself);
  const [ticks, setTicks] = useState<ReadonlySet<string>>(new Set());
  const [ahead] = useState(() => aheadOf(parsed, device.now()));
  const addTo = relation.kind === 'here' && !asNew;
  const nothingMissing = relation.kind === 'here' && relation.fresh === 0 && ticks.size === 0;
  const checked = checkName(name, 'agent', humanName);
  const trimmed = checked.ok ? checked.name : name;
  const fault = addTo || checked.ok ? null : name.trim() === '' ? t`It needs a name.` : retold(checked.reason);
  const adopt = () => {
    if (relation.kind === 'here' && !asNew)
      return onAdopt({ as: 'missing', agentId: relation.agent.agentId, ticks }, relation.agent.name);
    if (fault !== null || position === null) return;
    if (asNew) onAdopt({ as: 'new', agentId: newId, name: trimmed, position }, trimmed);
    else onAdopt({ as: 'itself', name: trimmed === parsed.name ? null : trimmed, position, ticks }, trimmed);
  };
  return (
    <form
      className="stack at-start narrow"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) adopt();
      }}
    >
      {relation.kind === 'here' && (
        <fieldset className="adopt-choice">
          <legend>{t`${relation.agent.name} is here already.`}</legend>
          <label className="tick-line">
            <input type="radio" name={`${id}-as`} checked={!asNew} onChange={() => setAsNew(false)} />
            {relation.fresh === 0 ? t`Nothing is new.` : t`Add ${plural(relation.fresh, 'entry', 'entries')}`}
          </label>
          <label className="tick-line">
            <input type="radio" name={`${id}-as`} checked={asNew} onChange={() => setAsNew(true)} />
            {t`Adopt a copy: ${NEW_AGENT}`}
          </label>
        </fieldset>
      )}
      {!asNew && <Changes changes={applicant.consents.changes} ticks={ticks} onTicks={setTicks} />}
      {relation.kind === 'lead' && <Relation>{t`There is a lead here already. You adopt ${NEW_AGENT}.`}</Relation>}
      {relation.kind === 'leaving' && (
        <Relation>
          {t`${relation.name} is being forgotten. To keep it, open Settings, Devices and data. Here you adopt ${NEW_AGENT}.`}
        </Relation>
      )}
      {relation.kind === 'forgotten' && (
        <Relation>{t`It was forgotten here for good. You adopt ${NEW_AGENT}.`}</Relation>
      )}
      {relation.kind === 'away' && (
        <Relation>{t`The same agent, with ${plural(parsed.messages, 'message')}.`}</Relation>
      )}
      {relation.kind === 'nobody-yet' && <Relation>{t`A soul without memories.`}</Relation>}
      {asNew && ahead > 0 && (
        <Relation>
          {plural(ahead, 'entry is dated in the future and left out.', 'entries are dated in the future and left out.')}
        </Relation>
      )}
      {!addTo && (
        <div className="halves full gap-5 stack">
          <TextField label={t`Name`} wrong={fault} prose value={name} onText={setName} />
          {position === null ? (
            <p className="setting-hint">{t`Every seat is taken. A seat becomes free when an agent retires.`}</p>
          ) : (
            <SelectField
              label={t`Seat`}
              choices={free.map((seat) => [String(seat), t`Seat ${seatNumber(seat)} · ${seatColor(seat).colorName}`])}
              value={String(position)}
              onChange={(value) => setChosen(free.find((seat) => String(seat) === value) ?? null)}
            />
          )}
        </div>
      )}
      <button
        type="submit"
        className="solid"
        disabled={busy || (!addTo && (position === null || fault !== null)) || (addTo && nothingMissing)}
      >
        {busy ? t`Working…` : addTo ? t`Add` : t`Adopt`}
      </button>
    </form>
  );
}

type Step =
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'looking'; readonly applicant: Applicant; readonly busy: boolean; readonly failed: string | null };

/**
 * Adopts an agent from a file: shows the soul, then lets the person change the name and choose the
 * seat.
 */
export function AdoptFlow({
  file,
  position,
  onLeave,
}: {
  file: File;
  position: SeatPosition | null;
  onLeave: () => void;
}) {
  const state = useRoost();
  const { go } = useRoute();
  const [step, setStep] = useState<Step>({ kind: 'reading' });
  useEffect(() => {
    const controller = new AbortController();
    void readAgent(state, file, controller.signal).then((read) => {
      if (controller.signal.aborted) return;
      setStep(
        read.ok
          ? { kind: 'looking', applicant: read.applicant, busy: false, failed: null }
          : { kind: 'failed', reason: read.reason },
      );
    });
    return () => controller.abort();
  }, [state, file]);

  if (step.kind === 'reading') return <Work label={t`Reading ${file.name}`} progress={null} onCancel={onLeave} />;
  if (step.kind === 'failed')
    return (
      <div className="wrong-note" role="alert">
        <p>
          <strong dir="auto">{shownText(file.name)}</strong> {step.reason}
        </p>
        <button type="button" className="ghost" onClick={onLeave}>{t`Choose a file`}</button>
      </div>
    );
  const { applicant, busy, failed } = step;
  const { parsed } = applicant;
  const adopt = async (welcoming: Welcoming, name: string) => {
    setStep({ ...step, busy: true, failed: null });
    const adopted = await adoptAgent(state, applicant, welcoming);
    if (!adopted.ok) return setStep({ ...step, busy: false, failed: adopted.reason });
    state.notices.info(
      welcoming.as === 'missing' || welcoming.position === null
        ? t`Imported.`
        : t`${name} has seat ${seatNumber(welcoming.position)} now.`,
    );
    const agentId = welcoming.as === 'new' ? welcoming.agentId : parsed.agentId;
    onLeave();
    if (agentId !== null) go(PATHS.agent(agentId));
  };
  return (
    <div className="adopt gap-6 stack at-start narrow">
      <div className="full flex gap-6 narrow">
        {parsed.name !== null && (
          <span className="fixed adopt-face" aria-hidden="true">
            <Face
              agentId={parsed.agentId ?? file.name}
              face={parsed.name}
              color={seatColor(position ?? 0).color}
              awake={false}
            />
          </span>
        )}
        {/* Scrollable, so it must be reachable by keyboard. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <blockquote className="soul short scroll fill from-6" tabIndex={0} aria-label={t`Soul`}>
          {parsed.soul === '' ? <p className="setting-hint">{t`No soul`}</p> : <Words text={parsed.soul} />}
        </blockquote>
      </div>
      {parsed.warnings.length > 0 && (
        <ul className="warn-box pad-wide stack gap-3 round">
          {parsed.warnings.map((warning, i) => (
            <li key={i}>{warningText(warning)}</li>
          ))}
        </ul>
      )}
      <Form
        applicant={applicant}
        wanted={position}
        busy={busy}
        onAdopt={(welcoming, name) => void adopt(welcoming, name)}
      />
      <WrongNote text={failed} />
      <button type="button" className="link-button" onClick={onLeave}>{t`Choose a file`}</button>
    </div>
  );
}
