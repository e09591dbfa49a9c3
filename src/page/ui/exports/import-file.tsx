/** Importing a file: passphrase, preview, confirmation and outcome. */
import { useId, useState } from 'react';
import { useStore } from 'zustand';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { shownText } from '../../../shared/domain/names.ts';
import { LEAD_ID, seatNumber } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { type ExportedAgent, type ImportPreview, exportsOf, type ImportState } from '../../state/exports.ts';
import { Face } from '../grid/face.tsx';
import { conflictText } from '../text/record-changes.ts';
import { kindName } from '../text/kinds.ts';
import { count, plural } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import { useRoost } from '../context.tsx';
import { DropZone } from '../design/drop-zone.tsx';
import { AdoptFlow, Changes, Work } from './adopt-flow.tsx';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly shown: boolean;
  readonly wrong?: string | null;
  readonly isNew: boolean;
}

function Field({ label, value, onChange, shown, wrong = null, isNew }: Props) {
  const id = useId();
  return (
    <div className="pass-field rows-top gap-3 stack">
      <label className="ink medium" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className="field"
        type={shown ? 'text' : 'password'}
        autoComplete={isNew ? 'new-password' : 'current-password'}
        spellCheck={false}
        value={value}
        aria-invalid={wrong !== null}
        aria-describedby={`${id}-wrong`}
        onChange={(event) => onChange(event.target.value)}
      />
      <p id={`${id}-wrong`} className="pass-wrong danger text-2" role={wrong === null ? undefined : 'alert'}>
        {wrong ?? ''}
      </p>
    </div>
  );
}

function Show({ shown, onChange }: { shown: boolean; onChange: (shown: boolean) => void }) {
  return (
    <label className="tick-line">
      <input type="checkbox" checked={shown} onChange={(event) => onChange(event.target.checked)} />
      {t`Show what I type`}
    </label>
  );
}

/** Shorter passphrases, in characters, can be guessed by a machine. */
const SHORT = 14;

export interface NewPassphrase {
  readonly first: string;
  readonly second: string;
}

/** Why this cannot be the passphrase, or null. */
export function passphraseFault({ first, second }: NewPassphrase): string | null {
  if (first === '') return t`Type a passphrase, or export without one.`;
  return first === second ? null : t`The two are not the same.`;
}

/** A new passphrase, typed twice. `tried`: errors are shown. */
export function NewPassphraseFields({
  value,
  onChange,
  tried,
}: {
  value: NewPassphrase;
  onChange: (value: NewPassphrase) => void;
  tried: boolean;
}) {
  const [shown, setShown] = useState(false);
  const { first, second } = value;
  const fault = passphraseFault(value);
  const apart = second !== '' && !first.startsWith(second);
  return (
    <div className="full stack at-start narrow gap-4">
      <Field
        label={t`Passphrase`}
        value={first}
        onChange={(next) => onChange({ first: next, second })}
        shown={shown}
        isNew
        wrong={tried && first === '' ? fault : null}
      />
      <Field
        label={t`The same again`}
        value={second}
        onChange={(next) => onChange({ first, second: next })}
        shown={shown}
        isNew
        wrong={(tried && first !== '') || apart ? fault : null}
      />
      <Show shown={shown} onChange={setShown} />
      {first !== '' && first.length < SHORT && (
        <p className="setting-hint">{t`Short ones can be guessed by a machine. Four or five words that do not belong together hold.`}</p>
      )}
      <p className="pad-5 warn-box round">
        {t`${<strong className="ink bold break">{t`Nobody can recover it.`}</strong>} There is no reset and no second key: without the passphrase the file cannot be opened, by you or by anybody. Write it down, and keep it apart from the file.`}
      </p>
    </div>
  );
}

/** Asks for the passphrase of an encrypted file. */
function PassphraseForm({
  fileName,
  wrong,
  onTry,
  onCancel,
}: {
  fileName: string;
  wrong: boolean;
  onTry: (passphrase: string) => void;
  onCancel: () => void;
}) {
  const [text, setText] = useState('');
  const [shown, setShown] = useState(false);
  return (
    <form
      className="full stack at-start narrow gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== '') onTry(text);
      }}
    >
      <p>{t`${<b dir="auto">{fileName}</b>} is under a passphrase.`}</p>
      <Field
        label={t`Passphrase of this file`}
        value={text}
        onChange={setText}
        shown={shown}
        isNew={false}
        wrong={
          wrong && text === ''
            ? t`This passphrase does not open it. Upper and lower case, and blanks at the ends, count.`
            : null
        }
      />
      <Show shown={shown} onChange={setShown} />
      <div className="gap-4 flex wrap">
        <button type="submit" className="solid" disabled={text === ''}>{t`Open`}</button>
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
      </div>
    </form>
  );
}

/** Conflicts that are shown at first. The rest are collapsed. */
const CONFLICTS_SHOWN = 8;

function seatText(agent: ExportedAgent): string {
  if (agent.agentId === LEAD_ID) return t`the lead`;
  if (agent.retired) return t`retired`;
  return agent.position === null ? t`without a seat` : t`seat ${seatNumber(agent.position)}`;
}

function news({ isHere, fresh, documents }: ExportedAgent): string {
  if (!isHere) return t`new here`;
  return fresh === 0
    ? t`here already, nothing new`
    : t`here already, ${count(fresh)} of ${plural(documents, 'entry', 'entries')} new`;
}

function Person({
  agent,
  taken,
  onChange,
}: {
  agent: ExportedAgent;
  taken: boolean;
  onChange: (taken: boolean) => void;
}) {
  return (
    <li>
      <label className="exports-person lifts pad box line gap-5 tint" style={{ '--c': agent.color }} data-taken={taken}>
        <input type="checkbox" checked={taken} onChange={(event) => onChange(event.target.checked)} />
        <span className="exports-face size-m fixed">
          <Face agentId={agent.agentId} face={agent.name} color={agent.color} awake={false} />
        </span>
        <span className="exports-who narrow">
          <b className="block agent-name named" dir="auto">
            {agent.name}
          </b>
          <small>
            {seatText(agent)} · {plural(agent.messages, 'message')} ·{' '}
            <span className={!agent.isHere || agent.fresh > 0 ? 'good' : undefined}>{news(agent)}</span>
          </small>
        </span>
      </label>
    </li>
  );
}

function headline({ fresh, same, forgotten, documents }: ImportPreview): string {
  if (documents === 0) return t`There is nothing in it.`;
  if (fresh === 0)
    return t`All of it is here already${forgotten > 0 ? t`, or was forgotten here` : ''}: importing it adds nothing, and harms nothing.`;
  const rest = same > 0 ? `; ${plural(same, 'is here already', 'are here already')}` : '';
  const all = plural(documents, 'entry', 'entries');
  return fresh === 1 ? t`One of ${all} is new here${rest}.` : t`${count(fresh)} of ${all} are new here${rest}.`;
}

interface PreviewProps {
  readonly fileName: string;
  readonly preview: ImportPreview;
  readonly onTake: (choice: { withSettings: boolean; leaveOut: readonly string[]; ticks: readonly string[] }) => void;
  readonly onCancel: () => void;
}

/**
 * The content of the file and the effects of importing it. Nothing is written before the person
 * confirms.
 */
function Preview({ fileName, preview, onTake, onCancel }: PreviewProps) {
  const [leaveOut, setLeaveOut] = useState<ReadonlySet<string>>(new Set());
  const [withSettings, setWithSettings] = useState(true);
  const [ticks, setTicks] = useState<ReadonlySet<string>>(new Set());
  const { exportedAt, sealed, agents, kinds, conflicts, changes, forgotten } = preview;
  const settings = kinds.find(({ type }) => type === 'setting')?.documents ?? 0;
  const unknown = kinds.filter(({ isKnown }) => !isKnown);
  const met = conflicts.filter((conflict) => {
    switch (conflict.kind) {
      case 'seat':
        return !leaveOut.has(conflict.file.agentId);
      case 'lead':
        return !leaveOut.has(LEAD_ID);
      case 'never':
      case 'unfit':
      case 'different':
        return true;
      default:
        return conflict satisfies never;
    }
  });
  // Changes of excluded agents, or of excluded settings, need no tick.
  const asked = changes.filter((change) =>
    change.kind === 'setting'
      ? withSettings
      : !('agentId' in change && change.agentId !== null && leaveOut.has(change.agentId)),
  );
  const nothingChosen = leaveOut.size === agents.length && agents.length > 0 && (!withSettings || settings === 0);
  const choose = (agentId: AgentId, taken: boolean) => {
    const next = new Set(leaveOut);
    if (taken) next.delete(agentId);
    else next.add(agentId);
    setLeaveOut(next);
  };
  const lines = met.map((conflict, i) => <li key={i}>{conflictText(conflict)}</li>);
  return (
    <form
      className="stack at-start narrow gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        if (!nothingChosen)
          onTake({
            withSettings,
            leaveOut: [...leaveOut],
            ticks: asked.map(({ tick }) => tick).filter((tick) => ticks.has(tick)),
          });
      }}
    >
      <div>
        <p className="under-3">
          <b dir="auto">{shownText(fileName)}</b>{' '}
          <small>
            <span>{t`written ${fullTime(exportedAt)}`}</span>
            {sealed && <span>{t`, under a passphrase`}</span>}
          </small>
        </p>
        <p>{headline(preview)}</p>
        {forgotten > 0 && (
          <p className="setting-hint">
            {plural(
              forgotten,
              'entry of it was forgotten here for good, and is not taken.',
              'entries of it were forgotten here for good, and are not taken.',
            )}
          </p>
        )}
        {unknown.length > 0 && (
          <p className="setting-hint">
            {t`A newer Roost wrote ${plural(
              unknown.reduce((sum, { documents }) => sum + documents, 0),
              'entry',
              'entries',
            )} of kinds that this one does not know (${[...new Set(unknown.map(({ type }) => kindName(type)))].join(', ')}).`}{' '}
            {changes.some(({ kind }) => kind === 'newer')
              ? t`They come only with their tick.`
              : t`They are kept and passed on.`}
          </p>
        )}
      </div>
      {agents.length > 0 && (
        <fieldset>
          <legend>{t`Who comes`}</legend>
          <ul className="tiles stack gap-4">
            {agents.map((agent) => (
              <Person
                key={agent.agentId}
                agent={agent}
                taken={!leaveOut.has(agent.agentId)}
                onChange={(taken) => choose(agent.agentId, taken)}
              />
            ))}
          </ul>
        </fieldset>
      )}
      {settings > 0 && (
        <label className="tick-line">
          <input type="checkbox" checked={withSettings} onChange={(event) => setWithSettings(event.target.checked)} />
          {t`Settings too`}
        </label>
      )}
      <Changes changes={asked} ticks={ticks} onTicks={setTicks} />
      <div className={`pad-wide full round stack gap-4 ${met.length > 0 ? 'warn-box' : 'framed'}`}>
        <h4 className="ink">
          {met.length === 0
            ? t`Nothing stands against what is here`
            : plural(met.length, 'thing stands against what is here', 'things stand against what is here')}
        </h4>
        {lines.length > 0 && <ul className="bulleted stack gap-3">{lines.slice(0, CONFLICTS_SHOWN)}</ul>}
        {lines.length > CONFLICTS_SHOWN && (
          <details>
            <summary>{plural(lines.length - CONFLICTS_SHOWN, 'more', 'more')}</summary>
            <ul className="bulleted stack gap-3">{lines.slice(CONFLICTS_SHOWN)}</ul>
          </details>
        )}
      </div>
      <div className="gap-4 flex wrap">
        <button type="submit" className="solid" disabled={nothingChosen}>
          {nothingChosen ? t`Nothing chosen` : t`Import`}
        </button>
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
      </div>
      <p className="setting-hint">{t`Nothing that is here is changed or removed by it${asked.length > 0 ? t`, except what you tick` : ''}.`}</p>
    </form>
  );
}

/** Extensions of files with one agent. Every other file is taken for a complete copy. */
const ONE_AGENT = /\.(zip|md|markdown|txt)$/i;

function Done({ state }: { state: Extract<ImportState, { kind: 'done' }> }) {
  const { documents, written, leftOut } = state.imported;
  const same = documents - written;
  return (
    <div className="done-box pad-wide stack at-start gap-5">
      <p>
        <strong>{written === 0 ? t`Nothing was new.` : t`Imported.`}</strong>{' '}
        <span>
          {written === 0
            ? t`Everything in it was here already. Importing a copy twice is harmless.`
            : plural(written, 'entry came.', 'entries came.')}
        </span>
        {written > 0 && same > 0 && <span>{` ${plural(same, 'was here already.', 'were here already.')}`}</span>}
        {leftOut > 0 && <span>{` ${plural(leftOut, 'entry was left out.', 'entries were left out.')}`}</span>}
      </p>
    </div>
  );
}

/**
 * Imports a file: a complete copy, or one agent. It is chosen or dropped, previewed, and only then
 * imported.
 */
export function ImportCopy({ onlyWhole = false }: { onlyWhole?: boolean }) {
  const copies = exportsOf(useRoost());
  const state = useStore(copies.store, ({ importing }) => importing);
  const [agentFile, setAgentFile] = useState<File | null>(null);
  const again = () => copies.reset('importing');
  const choose = (file: File) => {
    if (!onlyWhole && ONE_AGENT.test(file.name)) {
      again();
      setAgentFile(file);
    } else void copies.read(file);
  };
  if (agentFile)
    return (
      <AdoptFlow
        key={`${agentFile.name}:${agentFile.lastModified}:${agentFile.size}`}
        file={agentFile}
        position={null}
        onLeave={() => setAgentFile(null)}
      />
    );
  return (
    <>
      {(state.kind === 'idle' || state.kind === 'failed' || state.kind === 'done') && (
        <DropZone
          label={t`Choose a file`}
          accept={onlyWhole ? '.gz,.age,.jsonl' : '.gz,.age,.jsonl,.zip,.md,.markdown,.txt'}
          onFile={choose}
        >
          {onlyWhole
            ? t`or drop it here: a copy that was exported (.jsonl.gz, .age)`
            : t`or drop it here: a whole copy (.jsonl.gz, .age), one agent (.zip), or a soul that somebody wrote (SOUL.md)`}
        </DropZone>
      )}
      {state.kind === 'reading' && (
        <Work
          label={t`Reading ${state.file.name}`}
          progress={state.progress}
          onCancel={() => copies.cancel('importing')}
        />
      )}
      {state.kind === 'passphrase' && (
        <PassphraseForm
          key={String(state.wrong)}
          fileName={state.file.name}
          wrong={state.wrong}
          onTry={(passphrase) => void copies.read(state.file, passphrase)}
          onCancel={again}
        />
      )}
      {state.kind === 'preview' && (
        <Preview
          fileName={state.file.name}
          preview={state.opened.preview}
          onTake={(choice) => void copies.take(choice)}
          onCancel={again}
        />
      )}
      {state.kind === 'importing' && (
        <Work label={t`Taking it in`} progress={state.progress} onCancel={() => copies.cancel('importing')} />
      )}
      <div role="status" className="exports-said">
        {state.kind === 'done' && <Done state={state} />}
        {state.kind === 'failed' && (
          <p className="wrong-note">
            <span>
              <strong>
                <span dir="auto">{state.file.name}</span> {state.partly ? t`was not taken whole.` : t`was not taken.`}
              </strong>{' '}
              {state.reason}{' '}
              {state.partly
                ? t`What came before stays. Import the files again to go on: nothing comes twice.`
                : t`Nothing was changed.`}
            </span>
          </p>
        )}
      </div>
    </>
  );
}
