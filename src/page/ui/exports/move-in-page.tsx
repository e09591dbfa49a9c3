/** The page for moving in: files, a preview with counts, whose past it becomes, and the outcome. */
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { displayName, emptySeats } from '../../../shared/domain/agent.ts';
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import { checkName, shownText } from '../../../shared/domain/names.ts';
import { seatColor, seatNumber } from '../../../shared/domain/seat.ts';
import { retold, t } from '../../language/t.ts';
import {
  type ChosenFile,
  type ConversationSummary,
  type KeptFiles,
  type MovedIn,
  moveInOf,
  type MoveInPreview,
  type MoveInTarget,
} from '../../state/move-in.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { DropZone, type DroppedFile } from '../design/drop-zone.tsx';
import { Progress } from '../design/progress.tsx';
import { ImportExam } from '../exams/exams.tsx';
import { NameField } from './name-field.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { readDraft, storeDraft } from '../chat/drafts.ts';
import { useWakeCosts } from '../preview/use-wake-cost.ts';
import { PATHS, useRoute } from '../routes.ts';
import { money, tokens } from '../text/money.ts';
import { bytes, plural } from '../text/sizes.ts';
import { dayAndClock } from '../text/time.ts';
import { useNow } from '../hooks.ts';
import './exports.css';

const chosen = ({ file, path }: DroppedFile): ChosenFile => ({ file, path, modifiedAt: file.lastModified });

/** Rows of the list. More are found by their titles. */
const ROWS = 100;

function Conversations({
  all,
  leftOut,
  onLeaveOut,
}: {
  all: readonly ConversationSummary[];
  leftOut: ReadonlySet<SessionId>;
  onLeaveOut: (leftOut: ReadonlySet<SessionId>) => void;
}) {
  const id = useId();
  const now = useNow();
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().toLocaleLowerCase();
  const shown = wanted === '' ? all : all.filter(({ title }) => title.toLocaleLowerCase().includes(wanted));
  const choose = (some: readonly ConversationSummary[], taken: boolean) => {
    const next = new Set(leftOut);
    for (const { sessionId } of some) {
      if (taken) next.delete(sessionId);
      else next.add(sessionId);
    }
    onLeaveOut(next);
  };
  return (
    <fieldset className="full">
      <legend className="no-pad under-4 ink bold">
        {plural(all.length - leftOut.size, 'conversation', 'conversations')}
      </legend>
      <div className="gap-4 cluster">
        <label className="visually-hidden" htmlFor={id}>{t`Find a conversation by its title`}</label>
        <input
          id={id}
          type="search"
          className="field"
          placeholder={t`Find by title`}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <button type="button" className="link-button" onClick={() => choose(shown, true)}>{t`Choose all`}</button>
        <button type="button" className="link-button" onClick={() => choose(shown, false)}>{t`Choose none`}</button>
      </div>
      <ul className="stack gap-3">
        {shown.slice(0, ROWS).map((one) => (
          <li key={one.sessionId}>
            <label className="tick-line">
              <input
                type="checkbox"
                checked={!leftOut.has(one.sessionId)}
                onChange={({ target }) => choose([one], target.checked)}
              />
              <span dir="auto">
                {one.isBranch ? t`Branch of ${shownText(one.title)}` : shownText(one.title) || t`Without a title`}
                <small>{` · ${dayAndClock(one.time, now)} · ${plural(one.messages, 'message')}`}</small>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {shown.length > ROWS && (
        <p className="setting-hint">{t`${plural(shown.length - ROWS, 'more', 'more')} not shown. Find them by their titles.`}</p>
      )}
    </fieldset>
  );
}

function NotTaken({ notTaken }: Pick<MoveInPreview, 'notTaken'>) {
  if (notTaken.length === 0) return null;
  return (
    <section aria-label={t`What is not taken`}>
      <h3>{t`What is not taken`}</h3>
      <ul className="stack gap-3">
        {notTaken.map(({ reason, count, examples }) => (
          <li key={reason}>
            <span>{t`${count}: ${retold(reason)}`}</span>
            {examples.length > 0 && <small dir="auto">{` (${examples.map(shownText).join(', ')})`}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}

const NEW = 'new';

function Preview({
  preview,
  onTake,
  onCancel,
}: {
  preview: MoveInPreview;
  onTake: (target: MoveInTarget, sessionIds: readonly SessionId[], withFiles: boolean) => void;
  onCancel: () => void;
}) {
  const { conversations, files, soul, notTaken } = preview;
  const { device } = useRoost();
  const id = useId();
  const roster = useHousehold((state) => state.roster);
  const humanName = useHousehold((state) => state.settings.humanName);
  const agents = [...roster.byId.values()].filter(({ retired }) => !retired);
  const [seat] = emptySeats(roster);
  const [leftOut, setLeftOut] = useState<ReadonlySet<SessionId>>(new Set());
  const [who, setWho] = useState<string>(seat === undefined ? (agents[0]?.agentId ?? '') : NEW);
  const [name, setName] = useState(soul?.name ?? '');
  const [words, setWords] = useState(
    soul?.text ?? t`I talked with this person before I came here. Those conversations are part of my past.`,
  );
  const [withFiles, setWithFiles] = useState(true);
  const [newId] = useState(() => device.newId());
  const checked = checkName(name, 'agent', humanName);
  const isNew = who === NEW;
  const existing = agents.find(({ agentId }) => agentId === who);
  const fault = !isNew || checked.ok ? null : name.trim() === '' ? t`It needs a name.` : retold(checked.reason);
  const taken = conversations.filter(({ sessionId }) => !leftOut.has(sessionId));
  const messages = taken.reduce((sum, one) => sum + one.messages, 0);
  const target: MoveInTarget | null = !isNew
    ? { kind: 'existing', agentId: who as AgentId }
    : checked.ok && seat !== undefined && words.trim() !== ''
      ? { kind: 'new', agentId: newId as AgentId, name: checked.name, position: seat, soul: words }
      : null;
  const nothing = taken.length === 0 && !(withFiles && files.length > 0) && (soul === null || !isNew);
  return (
    <form
      className="stack at-start narrow gap-5"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (target !== null && !nothing)
          onTake(
            target,
            taken.map(({ sessionId }) => sessionId),
            withFiles,
          );
      }}
    >
      {conversations.length > 0 && (
        <>
          <p>
            {t`${plural(taken.length, 'conversation')} with ${plural(messages, 'message')} of ${[...new Set(conversations.map(({ format }) => format))].join(', ')}. Words and times stay as they were.`}
          </p>
          <Conversations all={conversations} leftOut={leftOut} onLeaveOut={setLeftOut} />
        </>
      )}
      {files.length > 0 && (
        <div className="stack gap-3">
          <label className="tick-line">
            <input type="checkbox" checked={withFiles} onChange={({ target: { checked: on } }) => setWithFiles(on)} />
            {t`${plural(files.length, 'file', 'files')} into its memory, marked as text of others`}
          </label>
          <details>
            <summary>{t`Which files`}</summary>
            <ul className="stack gap-3">
              {files.map(({ path }) => (
                <li key={path} dir="auto">
                  {shownText(path)}
                </li>
              ))}
            </ul>
          </details>
        </div>
      )}
      <NotTaken notTaken={notTaken} />
      <div className="pass-field rows-top gap-3 stack">
        <label className="ink medium" htmlFor={`${id}-who`}>{t`Whose past it becomes`}</label>
        <select id={`${id}-who`} className="field" value={who} onChange={({ target: { value } }) => setWho(value)}>
          {seat !== undefined && <option value={NEW}>{t`A new agent`}</option>}
          {agents.map((agent) => (
            <option key={agent.agentId} value={agent.agentId}>
              {displayName(agent, roster)}
            </option>
          ))}
        </select>
      </div>
      {existing && withFiles && files.length > 0 && (
        <ImportExam
          key={existing.agentId}
          agentId={existing.agentId}
          name={displayName(existing, roster)}
          files={files}
        />
      )}
      {!isNew && soul !== null && (
        <p className="setting-hint">{t`${shownText(soul.path)} is not taken: a soul from a file is only for a new agent.`}</p>
      )}
      {isNew && seat !== undefined && (
        <>
          <NameField name={name} fault={fault} onName={setName} />
          <div className="full rows-top gap-3 stack">
            <label className="ink medium" htmlFor={`${id}-soul`}>{t`Soul`}</label>
            <textarea
              id={`${id}-soul`}
              className="field"
              dir="auto"
              rows={6}
              aria-describedby={`${id}-soul-about`}
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
            <p id={`${id}-soul-about`} className="setting-hint">
              {soul === null
                ? t`The words with which it wakes in seat ${seatNumber(seat)} (${seatColor(seat).colorName}). It can change them itself.`
                : t`From ${shownText(soul.path)}. Read it: it becomes the soul of the new agent in seat ${seatNumber(seat)}, exactly as shown here.`}
            </p>
          </div>
        </>
      )}
      <div className="gap-4 flex wrap">
        <button type="submit" className="solid" disabled={target === null || nothing}>
          {nothing ? t`Nothing chosen` : t`Move in`}
        </button>
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
      </div>
      <p className="setting-hint">{t`Nothing that is here is changed or removed. Importing the same files twice changes nothing.`}</p>
    </form>
  );
}

function Work({
  label,
  progress,
  onCancel,
}: {
  label: string;
  progress: { readonly done: number; readonly of: number } | null;
  onCancel: () => void;
}) {
  const { done, of } = progress ?? { done: 0, of: 0 };
  return (
    <div className="stack at-start gap-5">
      <Progress
        label={label}
        done={done}
        of={of}
        {...(of > 0 ? { text: t`${bytes(Math.min(done, of))} of ${bytes(of)}` } : {})}
      />
      <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
    </div>
  );
}

/**
 * A message to the agent that asks it to note what matters. It stands in the conversation, for the
 * person to read, change and send. Above it is what waking the agent costs.
 */
function FirstMemory({ agentId }: { agentId: AgentId }) {
  const { device } = useRoost();
  const { go } = useRoute();
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  const { all: cost } = useWakeCosts(agent ? [agent] : []);
  const write = () => {
    const ask = t`Part of our past came from another product. Look through it with recall, and note in your memory what matters: who I am, what we decided, what I like. Say at each line from which conversation it is, and of which day.`;
    if (readDraft(device.browser, agentId).trim() === '') storeDraft(device.browser, agentId, ask);
    go(PATHS.agent(agentId));
  };
  return (
    <div className="stack at-start gap-3">
      <button type="button" className="solid" onClick={write}>{t`Ask it to write its first memory`}</button>
      <p className="setting-hint">
        <span>{t`A message for it is in your conversation. You can change it before you send it.`}</span>
        {cost && (
          <span>{` ${cost.microUsd === null ? t`Waking it reads about ${tokens(cost.tokens)} tokens.` : t`Waking it reads about ${tokens(cost.tokens)} tokens, ${money(cost.microUsd)}. What it looks up comes on top.`}`}</span>
        )}
      </p>
    </div>
  );
}

function Done({
  agentId,
  moved,
  kept,
  onAgain,
}: {
  agentId: AgentId;
  moved: MovedIn;
  kept: KeptFiles;
  onAgain: () => void;
}) {
  const { conversations, documents, written, forgotten } = moved;
  const same = documents - written - forgotten;
  return (
    <div className="done-box pad-wide stack at-start gap-5">
      <p>
        <strong>{written + kept.written === 0 ? t`Nothing was new.` : t`Moved in.`}</strong>{' '}
        <span>{t`${plural(conversations, 'conversation')}, ${plural(written, 'new entry', 'new entries')}.`}</span>
        {same > 0 && <span>{` ${plural(same, 'was here already.', 'were here already.')}`}</span>}
        {forgotten > 0 && (
          <span>{` ${plural(forgotten, 'was forgotten here, and does not come back.', 'were forgotten here, and do not come back.')}`}</span>
        )}
      </p>
      {kept.written + kept.same > 0 && (
        <p>{t`${plural(kept.written, 'new file', 'new files')} in its memory, ${plural(kept.same, 'was there already', 'were there already')}.`}</p>
      )}
      {kept.refused.length > 0 && (
        <ul className="stack gap-3">
          {kept.refused.map(({ path, reason }) => (
            <li key={path}>{t`${shownText(path)} is not in its memory: ${reason}`}</li>
          ))}
        </ul>
      )}
      {conversations > 0 && <FirstMemory agentId={agentId} />}
      <div className="gap-4 flex wrap">
        <Link href={PATHS.portrait(agentId, 'conversations')} className="ghost">{t`See the conversations`}</Link>
        {kept.written + kept.same > 0 && <Link href={PATHS.about(agentId)} className="ghost">{t`See its memory`}</Link>}
        <button type="button" className="ghost" onClick={onAgain}>{t`Other files`}</button>
      </div>
    </div>
  );
}

export default function MoveInPage({ onClose }: { onClose: () => void }) {
  const moveIn = moveInOf(useRoost());
  const state = useStore(moveIn.store);
  const folder = useId();
  const read = (files: readonly DroppedFile[]) => {
    if (files.length > 0) void moveIn.read(files.map(chosen));
  };
  return (
    <div className="page one-column gap-7 stack">
      <PageHead title={t`Move in`} onClose={onClose} />
      <div className="exports gap-7 stack narrow ink-2 text-3">
        {(state.kind === 'idle' || state.kind === 'failed') && (
          <>
            <p>{t`Bring your past with another product: its conversations become part of an agent’s past here. You see what is in the files before anything is taken. Nothing leaves this device.`}</p>
            <DropZone
              label={t`Choose files`}
              accept=".zip,.json,.jsonl,.af,.md,.markdown,.txt"
              onFiles={read}
            >{t`or drop them here: exports of ChatGPT or Claude, sessions of Claude Code or OpenClaw (.jsonl), agent files of Letta (.af), zips, notes`}</DropZone>
            <div>
              <input
                ref={(input) => input?.setAttribute('webkitdirectory', '')}
                id={folder}
                className="visually-hidden"
                type="file"
                multiple
                onChange={({ target }) => {
                  const files = [...(target.files ?? [])];
                  target.value = '';
                  read(files.map((file) => ({ file, path: file.webkitRelativePath || file.name })));
                }}
              />
              <label htmlFor={folder} className="ghost drop-button">{t`Choose a folder`}</label>
            </div>
          </>
        )}
        {state.kind === 'reading' && (
          <Work label={t`Reading the files`} progress={state.progress} onCancel={() => moveIn.cancel()} />
        )}
        {state.kind === 'preview' && (
          <Preview
            preview={state.preview}
            onTake={(target, sessionIds, withFiles) => void moveIn.take({ target, sessionIds, withFiles })}
            onCancel={() => moveIn.reset()}
          />
        )}
        {state.kind === 'moving' && (
          <Work label={t`Moving in`} progress={state.progress} onCancel={() => moveIn.cancel()} />
        )}
        <div role="status" className="exports-said">
          {state.kind === 'done' && (
            <Done agentId={state.agentId} moved={state.moved} kept={state.kept} onAgain={() => moveIn.reset()} />
          )}
          {state.kind === 'failed' && (
            <p className="wrong-note">
              <span>
                <strong>{state.partly ? t`It was not taken whole.` : t`It could not be read.`}</strong>{' '}
                {retold(state.reason)}{' '}
                {state.partly
                  ? t`What came before stays. Import the files again to go on: nothing comes twice.`
                  : t`Nothing was changed.`}
              </span>
            </p>
          )}
        </div>
      </div>
    </div>
  );
}
