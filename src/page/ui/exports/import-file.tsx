/** Importing a file: passphrase, preview, confirmation and outcome. */
import { useState } from 'react';
import { useStore } from 'zustand';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { shownText } from '../../../shared/domain/names.ts';
import { LEAD_ID, seatNumber } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { type ExportedAgent, type ImportPreview, exportsOf, type ImportState } from '../../state/exports.ts';
import { Face } from '../grid/face.tsx';
import { conflictText } from '../text/record-changes.ts';
import { kindName } from '../text/kinds.ts';
import { plural } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import { useRoost } from '../context.tsx';
import { DropZone } from '../design/drop-zone.tsx';
import { TextField } from '../design/field.tsx';
import { AdoptFlow, Changes, Work } from './adopt-flow.tsx';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly shown: boolean;
  readonly wrong?: string | null;
  readonly isNew: boolean;
}

function PassphraseField({ label, value, onChange, shown, wrong = null, isNew }: Props) {
  return (
    <TextField
      label={label}
      wrong={wrong}
      type={shown ? 'text' : 'password'}
      autoComplete={isNew ? 'new-password' : 'current-password'}
      value={value}
      onText={onChange}
    />
  );
}

function Show({ shown, onChange }: { shown: boolean; onChange: (shown: boolean) => void }) {
  return (
    <label className="tick-line">
      <input type="checkbox" checked={shown} onChange={(event) => onChange(event.target.checked)} />
      {t`Show`}
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
  if (first === '') return t`Fill this in.`;
  return first === second ? null : t`They differ.`;
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
      <PassphraseField
        label={t`Passphrase`}
        value={first}
        onChange={(next) => onChange({ first: next, second })}
        shown={shown}
        isNew
        wrong={tried && first === '' ? fault : null}
      />
      <PassphraseField
        label={t`Repeat it`}
        value={second}
        onChange={(next) => onChange({ first, second: next })}
        shown={shown}
        isNew
        wrong={(tried && first !== '') || apart ? fault : null}
      />
      <Show shown={shown} onChange={setShown} />
      {first !== '' && first.length < SHORT && (
        <p className="setting-hint">{t`Short ones can be guessed. Use four or five unrelated words.`}</p>
      )}
      <p className="pad-5 warn-box round">
        {t`Without it nobody can open the file, not even you. Write it down, and keep it apart from the file.`}
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
      <p>
        <b dir="auto">{fileName}</b>
      </p>
      <PassphraseField
        label={t`Passphrase of this file`}
        value={text}
        onChange={setText}
        shown={shown}
        isNew={false}
        wrong={wrong && text === '' ? t`This passphrase is wrong. Case and spaces count.` : null}
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

function news({ isHere, fresh }: ExportedAgent): string {
  if (!isHere) return t`new here`;
  return fresh === 0 ? t`here already` : plural(fresh, 'new entry', 'new entries');
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

function headline({ fresh, same, documents }: ImportPreview): string {
  if (documents === 0) return t`The file is empty.`;
  if (fresh === 0) return t`Nothing is new.`;
  return same > 0
    ? `${plural(fresh, 'new entry', 'new entries')}, ${plural(same, 'is here already', 'are here already')}.`
    : `${plural(fresh, 'new entry', 'new entries')}.`;
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
            {sealed && <span>{`, ${t`with a passphrase`}`}</span>}
          </small>
        </p>
        <p>{headline(preview)}</p>
        {forgotten > 0 && (
          <p className="setting-hint">
            {plural(
              forgotten,
              'entry was forgotten here and is not imported.',
              'entries were forgotten here and are not imported.',
            )}
          </p>
        )}
        {unknown.length > 0 && (
          <p className="setting-hint">
            {t`A newer Roost wrote ${plural(
              unknown.reduce((sum, { documents }) => sum + documents, 0),
              'entry',
              'entries',
            )} that this one cannot read (${[...new Set(unknown.map(({ type }) => kindName(type)))].join(', ')}).`}
          </p>
        )}
      </div>
      {agents.length > 0 && (
        <fieldset>
          <legend>{t`Agents`}</legend>
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
          {t`Settings`}
        </label>
      )}
      <Changes changes={asked} ticks={ticks} onTicks={setTicks} />
      {lines.length > 0 && (
        <div className="pad-wide full round stack gap-4 warn-box">
          <h4 className="ink">{plural(lines.length, 'conflict')}</h4>
          <ul className="bulleted stack gap-3">{lines.slice(0, CONFLICTS_SHOWN)}</ul>
          {lines.length > CONFLICTS_SHOWN && (
            <details>
              <summary>{plural(lines.length - CONFLICTS_SHOWN, 'more', 'more')}</summary>
              <ul className="bulleted stack gap-3">{lines.slice(CONFLICTS_SHOWN)}</ul>
            </details>
          )}
        </div>
      )}
      <div className="gap-4 flex wrap">
        <button type="submit" className="solid" disabled={nothingChosen}>
          {nothingChosen ? t`Nothing chosen` : t`Import`}
        </button>
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
      </div>
      {asked.length === 0 && <p className="setting-hint">{t`Nothing that is here changes.`}</p>}
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
        <strong>{written === 0 ? t`Nothing is new.` : t`Imported.`}</strong>
        {written > 0 && <span>{` ${plural(written, 'new entry', 'new entries')}.`}</span>}
        {written > 0 && same > 0 && <span>{` ${plural(same, 'is here already', 'are here already')}.`}</span>}
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
          {t`or drop it here: ${onlyWhole ? '.jsonl.gz, .age' : '.jsonl.gz, .age, .zip, SOUL.md'}`}
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
        <Work label={t`Importing`} progress={state.progress} onCancel={() => copies.cancel('importing')} />
      )}
      <div role="status" className="exports-said">
        {state.kind === 'done' && <Done state={state} />}
        {state.kind === 'failed' && (
          <p className="wrong-note">
            <span>
              <strong dir="auto">{state.file.name}</strong> {state.reason}{' '}
              {state.partly ? t`Only a part was imported. Import it again for the rest.` : t`Nothing was changed.`}
            </span>
          </p>
        )}
      </div>
    </>
  );
}
