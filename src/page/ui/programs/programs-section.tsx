/** ACP agents, such as Claude Code, that can be the mind of a team member. */
import { type FormEvent, useId, useState } from 'react';
import type { Program, Programs } from '../../../shared/protocol/programs.ts';
import { retold, t } from '../../language/t.ts';
import { programsOf } from '../../state/programs.ts';
import { useRoost } from '../context.tsx';
import { SureDialog } from '../design/dialog.tsx';
import { useNames } from '../use-somebody.ts';
import { readVariables } from '../text/kinds.ts';
import { QueryView } from '../parts/page-head.tsx';
import '../mcp/mcp.css';
import './programs.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

// One ACP agent: its state, and for which agents it is running.

const STATES: Record<Program['running'][number]['state'], string> = {
  waiting: t`waits for its turn to start`,
  starting: t`starts: the first time can take minutes where it is fetched first`,
  ready: t`ready`,
  working: t`at work`,
};

const FAULTS: Record<Extract<Program['state'], { kind: 'fails' }>['why'], string> = {
  'not-installed': t`is not there`,
  'not-signed-in': t`is signed out`,
  died: t`ends by itself`,
  hangs: t`does not answer`,
  nonsense: t`is not understood`,
  other: t`does not answer`,
};

function statusText({ state }: Pick<Program, 'state'>): string {
  switch (state.kind) {
    case 'untried':
      return t`not tested since the relay was started`;
    case 'trying':
      return t`is being tested: it can take a minute, and more where it is fetched first`;
    case 'answers':
      return t`answers: ${state.is}`;
    case 'fails':
      return FAULTS[state.why];
    default:
      return state satisfies never;
  }
}

function toolsOf(has: boolean | null): string {
  if (has === null) return t`Whether it takes Roost’s tools is not known yet: that shows when an agent thinks with it.`;
  return has
    ? t`It has Roost’s tools.`
    : t`It has none of Roost’s tools: an agent with it as mind cannot use Roost’s inbox, threads and reminders.`;
}

function ProgramCard({ program }: { program: Program }) {
  const programs = programsOf(useRoost());
  const nameOf = useNames();
  const id = useId();
  const { busy: asking, failed, act } = useAction();
  const [removing, setRemoving] = useState(false);
  const { programId, name, where, variables, throughRelay, state, running } = program;
  const busy = asking || state.kind === 'trying';
  const describedBy = `${id}-name ${id}-standing`;
  const tryIt = () => act(() => programs.change((client) => client.tryProgram({ programId })));
  return (
    <article
      className="mcp-server ground-0 pad-wide box stack gap-5 narrow text-3"
      data-state={state.kind === 'fails' ? 'failed' : 'connected'}
      aria-label={name}
    >
      <header className="flex wrap baseline apart gap-4">
        <h4 className="text-4" dir="auto" id={`${id}-name`}>
          {name}
        </h4>
        <span className="ink-3 text-2" role="status" id={`${id}-standing`}>
          {statusText(asking ? { state: { kind: 'trying', since: 0 } } : program)}
        </span>
      </header>
      <p className="break ink-2">
        <code>{where}</code>
        {variables.length > 0 && <small> {t`with ${variables.join(', ')}`}</small>}
      </p>
      <p className="setting-hint">
        {throughRelay
          ? t`Asks its model through this relay: each request is counted, and held to budgets.`
          : t`Asks its model with its own sign-in: only what it reports is counted, and budgets stop it before a turn, not within one.`}
      </p>
      {state.kind === 'fails' && <p role="status">{retold(state.message)}</p>}
      {state.kind === 'answers' && <p className="danger">{toolsOf(state.tools)}</p>}
      {running.length > 0 && (
        <ul className="stack gap-2 ink-2" aria-label={t`Who thinks with ${name} now`}>
          {running.map(({ agentId, since, state: at, mode }) => (
            <li key={`${agentId} ${since}`}>
              <b dir="auto">{nameOf(agentId)}</b>
              <span>{`: ${STATES[at]}`}</span>
              {mode !== null && (
                <small className={mode.asks ? '' : 'wrong-note'}>
                  {' · '}
                  {mode.asks
                    ? t`mode “${mode.name}”: you are asked`
                    : t`mode “${mode.name}”: Roost does not know whether you are asked in it`}
                </small>
              )}
            </li>
          ))}
        </ul>
      )}
      <WrongNote text={failed} />
      <div className="flex wrap gap-4">
        <button
          type="button"
          className="ghost"
          aria-disabled={busy}
          aria-describedby={describedBy}
          onClick={busy ? undefined : tryIt}
        >{t`Try it`}</button>
        <button
          type="button"
          className="ghost ghost-danger"
          aria-disabled={busy}
          aria-describedby={describedBy}
          onClick={busy ? undefined : () => setRemoving(true)}
        >{t`Remove`}</button>
      </div>
      {removing && (
        <SureDialog
          title={t`Remove ${name}`}
          does={t`Remove it`}
          onSure={async () => {
            const done = await programs.change((client) => client.removeProgram({ programId }));
            return done.ok ? null : done.reason;
          }}
          onClose={() => setRemoving(false)}
        >
          <p>{t`What runs of it ends now. Agents that have it as their mind do not answer until another is chosen for them. The program itself stays on the machine.`}</p>
        </SureDialog>
      )}
    </article>
  );
}

// Connects an ACP agent: a detected one, or a command.

const EMPTY = { name: '', line: '', variables: '', throughRelay: false };

function ProgramForm({ found }: { found: Programs['found'] }) {
  const programs = programsOf(useRoost());
  const id = useId();
  const [draft, setDraft] = useState(EMPTY);
  const { busy, failed, act, fail } = useAction();
  const whole = draft.name.trim() !== '' && draft.line.trim() !== '';
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!whole) return;
    const [command = '', ...args] = draft.line.trim().split(/\s+/);
    const variables = readVariables(draft.variables);
    if (!variables.ok) return fail(variables.reason);
    const { name, throughRelay } = draft;
    act(async () => {
      const done = await programs.add({ name: name.trim(), command, args, env: variables.env, throughRelay });
      if (done.ok) setDraft(EMPTY);
      return done;
    });
  }
  return (
    <form className="attach stack gap-5 narrow text-3" onSubmit={submit}>
      {found.length > 0 && (
        <div className="cluster gap-4" role="group" aria-label={t`Found on the relay’s machine`}>
          <span
            className="setting-hint"
            id={`${id}-found`}
          >{t`Found on the relay’s machine; one fills in its name and its command:`}</span>
          {found.map(({ name, command, args }) => (
            <button
              key={command}
              type="button"
              className="ghost"
              aria-disabled={busy}
              aria-describedby={`${id}-found`}
              onClick={busy ? undefined : () => setDraft({ ...draft, name, line: [command, ...args].join(' ') })}
            >
              {name}
            </button>
          ))}
        </div>
      )}
      <label className="program-line stack gap-3 medium">
        {t`Name, as you choose it for an agent`}
        <input
          className="field"
          autoComplete="off"
          value={draft.name}
          onChange={(event) => setDraft({ ...draft, name: event.target.value })}
        />
      </label>
      <label className="program-line stack gap-3 medium">
        {t`Command, as in a terminal; it must speak the Agent Client Protocol, and be signed in there already`}
        <input
          className="field"
          autoComplete="off"
          spellCheck={false}
          value={draft.line}
          onChange={(event) => setDraft({ ...draft, line: event.target.value })}
        />
      </label>
      <label className="program-line stack gap-3 medium">
        {t`Variables`}
        <textarea
          className="field narrow full"
          rows={2}
          autoComplete="off"
          spellCheck={false}
          placeholder={t`NAME=value, one a line`}
          value={draft.variables}
          onChange={(event) => setDraft({ ...draft, variables: event.target.value })}
        />
      </label>
      <label className="tick-line">
        <input
          type="checkbox"
          checked={draft.throughRelay}
          onChange={() => setDraft({ ...draft, throughRelay: !draft.throughRelay })}
        />
        {t`Asks its model through Roost, so that budgets hold for it (Claude Code can)`}
      </label>
      <WrongNote text={failed} />
      <button type="submit" className="ghost self-start" aria-disabled={busy || !whole} aria-describedby={`${id}-add`}>
        {busy ? t`Working…` : t`Connect and try it`}
      </button>
      <p className="setting-hint" id={`${id}-add`}>
        {whole ? t`It is started once, as far as it can be without asking a model.` : t`It needs a name and a command.`}
      </p>
    </form>
  );
}

export function ProgramsSection() {
  const { list } = programsOf(useRoost());
  return (
    <div className="stack gap-6">
      <p className="settings-note under-6 ink-2 text-3">{t`Claude Code, Codex, Gemini CLI and others can be an agent’s mind: it keeps its soul and its memory, and works with that program’s own hands, in its own folder. You choose it for each agent under Settings, Advanced. Roost starts it when the agent wakes, and ends it with the session.`}</p>
      <QueryView query={list}>
        {({ programs, found, allowed, why }) => (
          <>
            {programs.map((program) => (
              <ProgramCard key={program.programId} program={program} />
            ))}
            <h3>{programs.length === 0 ? t`Connect a program` : t`Connect another program`}</h3>
            {allowed && programs.length === 0 && found.length === 0 && (
              <p className="setting-hint">{t`None that Roost knows, such as Claude Code, Codex or Gemini CLI, was found on the relay’s machine. Install one there and sign in to it, then open this page again; or give the command of another.`}</p>
            )}
            {allowed ? (
              <ProgramForm found={found} />
            ) : (
              <p className="setting-hint">
                {why === undefined
                  ? t`This relay runs no programs for its pages. Start it with ${<code className="ink-2">--scripts</code>} to let it.`
                  : retold(why)}
              </p>
            )}
          </>
        )}
      </QueryView>
      <p className="setting-hint">{t`Such a program runs on the relay’s machine as whoever started the relay, and no sandbox of Roost’s is around it. Its questions wait in your inbox.`}</p>
    </div>
  );
}
