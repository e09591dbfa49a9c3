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
import { ProgramsOff } from '../parts/programs-off.tsx';
import '../mcp/mcp.css';
import { useAction } from '../design/use-action.ts';
import { TextField, WrongNote } from '../design/field.tsx';

// One ACP agent: its state, and for which agents it is running.

const STATES: Record<Program['running'][number]['state'], string> = {
  waiting: t`waiting to start`,
  starting: t`starting (a first download takes minutes)`,
  ready: t`ready`,
  working: t`at work`,
};

const FAULTS: Record<Extract<Program['state'], { kind: 'fails' }>['why'], string> = {
  'not-installed': t`not installed`,
  'not-signed-in': t`signed out`,
  died: t`failed`,
  hangs: t`does not answer`,
  nonsense: t`failed`,
  other: t`does not answer`,
};

function statusText({ state }: Pick<Program, 'state'>): string {
  switch (state.kind) {
    case 'untried':
      return t`not tested`;
    case 'trying':
      return STATES.starting;
    case 'answers':
      return t`answers, ${state.is}`;
    case 'fails':
      return FAULTS[state.why];
    default:
      return state satisfies never;
  }
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
          ? t`Uses its model through Roost: budgets apply to each request.`
          : t`Uses its own sign-in: Roost counts what it reports, and budgets stop it between turns.`}
      </p>
      {state.kind === 'fails' && <p role="status">{retold(state.message)}</p>}
      {state.kind === 'answers' && state.tools === false && (
        <p className="danger">{t`It has none of Roost’s tools: no inbox, threads or reminders.`}</p>
      )}
      {running.length > 0 && (
        <ul className="stack gap-2 ink-2" aria-label={t`Agents with ${name} now`}>
          {running.map(({ agentId, since, state: at, mode }) => (
            <li key={`${agentId} ${since}`}>
              <b dir="auto">{nameOf(agentId)}</b>
              <span>{`: ${STATES[at]}`}</span>
              {mode !== null && (
                <small className={mode.asks ? '' : 'wrong-note'}>
                  {' · '}
                  {mode.asks ? t`mode “${mode.name}”: you are asked` : t`mode “${mode.name}”: it may not ask you`}
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
          does={t`Remove`}
          onSure={async () => {
            const done = await programs.change((client) => client.removeProgram({ programId }));
            return done.ok ? null : done.reason;
          }}
          onClose={() => setRemoving(false)}
        >
          <p>{t`Its agents do not answer until you choose another mind for them. The program stays installed.`}</p>
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
          <span className="setting-hint" id={`${id}-found`}>{t`Found on the relay’s machine`}</span>
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
      <TextField label={t`Name`} value={draft.name} onText={(text) => setDraft({ ...draft, name: text })} />
      <TextField
        label={t`Command of an ACP agent that is signed in`}
        value={draft.line}
        onText={(text) => setDraft({ ...draft, line: text })}
      />
      <TextField
        label={t`Variables, one in a line`}
        rows={2}
        placeholder="NAME=value"
        value={draft.variables}
        onText={(text) => setDraft({ ...draft, variables: text })}
      />
      <label className="tick-line">
        <input
          type="checkbox"
          checked={draft.throughRelay}
          onChange={() => setDraft({ ...draft, throughRelay: !draft.throughRelay })}
        />
        {t`Use its model through Roost, so that budgets apply (Claude Code can)`}
      </label>
      <WrongNote text={failed} />
      <button type="submit" className="ghost self-start" aria-disabled={busy || !whole} aria-describedby={`${id}-add`}>
        {busy ? t`Working…` : t`Connect`}
      </button>
      <p className="setting-hint" id={`${id}-add`}>
        {whole ? t`It starts once, without a model request.` : t`It needs a name and a command.`}
      </p>
    </form>
  );
}

export function ProgramsSection() {
  const { list } = programsOf(useRoost());
  return (
    <div className="stack gap-6">
      <p className="settings-note under-6 ink-2 text-3">{t`Claude Code, Codex, Gemini CLI and others can be an agent’s mind. Choose it for an agent under Settings, Advanced.`}</p>
      <QueryView query={list}>
        {({ programs, found, allowed, why }) => (
          <>
            {programs.map((program) => (
              <ProgramCard key={program.programId} program={program} />
            ))}
            <h3>{t`Connect a program`}</h3>
            {allowed && programs.length === 0 && found.length === 0 && (
              <p className="setting-hint">{t`None found. Install one on the relay’s machine and sign in, or give a command.`}</p>
            )}
            {allowed ? <ProgramForm found={found} /> : <ProgramsOff why={why} />}
          </>
        )}
      </QueryView>
      <p className="setting-hint">{t`It runs as the relay’s user, without Roost’s sandbox. Its questions wait in your inbox.`}</p>
    </div>
  );
}
