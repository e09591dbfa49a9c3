/** Connects an ACP agent: one that was found, or a command. */
import { useId, useState, type FormEvent } from 'react';
import { t } from '../../language/t.ts';
import type { Programs } from '../../../shared/protocol/programs.ts';
import { programsOf } from '../../state/programs.ts';
import { useRoost } from '../context.tsx';
import { readVariables } from '../text/variables.ts';

const EMPTY = { name: '', line: '', variables: '', throughRelay: false };

export function ProgramForm({ found }: { found: Programs['found'] }) {
  const programs = programsOf(useRoost());
  const id = useId();
  const [draft, setDraft] = useState(EMPTY);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const whole = draft.name.trim() !== '' && draft.line.trim() !== '';
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (busy || !whole) return;
    const [command = '', ...args] = draft.line.trim().split(/\s+/);
    const variables = readVariables(draft.variables);
    if (!variables.ok) return setFailed(variables.reason);
    setBusy(true);
    const done = await programs.add({
      name: draft.name.trim(),
      command,
      args,
      env: variables.env,
      throughRelay: draft.throughRelay,
    });
    setBusy(false);
    setFailed(done.ok ? null : done.reason);
    if (done.ok) setDraft(EMPTY);
  }
  return (
    <form className="attach" onSubmit={(event) => void submit(event)}>
      {found.length > 0 && (
        <div className="program-found" role="group" aria-label={t`Found on the relay’s machine`}>
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
      <label className="program-line">
        {t`Name, as you choose it for an agent`}
        <input
          className="field"
          autoComplete="off"
          value={draft.name}
          onChange={(event) => setDraft({ ...draft, name: event.target.value })}
        />
      </label>
      <label className="program-line">
        {t`Command, as in a terminal; it must speak the Agent Client Protocol, and be signed in there already`}
        <input
          className="field"
          autoComplete="off"
          spellCheck={false}
          value={draft.line}
          onChange={(event) => setDraft({ ...draft, line: event.target.value })}
        />
      </label>
      <label className="program-line">
        {t`Variables`}
        <textarea
          className="field"
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
      {failed !== null && (
        <p className="wrong-note" role="alert">
          {failed}
        </p>
      )}
      <button type="submit" className="ghost program-add" aria-disabled={busy || !whole} aria-describedby={`${id}-add`}>
        {busy ? t`Starting it once…` : t`Connect and try it`}
      </button>
      <p className="setting-hint" id={`${id}-add`}>
        {whole ? t`It is started once, as far as it can be without asking a model.` : t`It needs a name and a command.`}
      </p>
    </form>
  );
}
