import { useId, useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import { wakeQueries } from '../../state/wakes.ts';
import type { Limits } from '../../state/relay-info.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { AgentOptions } from '../parts/choices.tsx';
import { copyText } from '../parts/copyable-text.tsx';

type Step = 'closed' | 'reading' | 'open' | 'saving';

interface Said {
  readonly wrong: boolean;
  readonly text: string;
  /** Restores the earlier settings exactly. */
  readonly undo: (() => Promise<void>) | null;
}

/** The effective limits as YAML, to copy and to paste. The relay writes and parses it. */
function Yaml<Own>({ agentId, limits }: { agentId: AgentId | null; limits: Limits<Own> }) {
  const state = useRoost();
  const id = useId();
  const [step, setStep] = useState<Step>('closed');
  const [text, setText] = useState('');
  const [status, setStatus] = useState<Said | null>(null);

  async function read(otherwise: Step) {
    const yaml = await state.callRelay((client) => client.configYaml.read(agentId));
    setStep(yaml.ok ? 'open' : otherwise);
    if (yaml.ok) setText(yaml.value);
    else setStatus({ wrong: true, text: problemText(yaml.problem), undo: null });
  }
  function open() {
    setStep('reading');
    setStatus(null);
    return read('closed');
  }
  async function save() {
    const before = limits.query.store.getState();
    setStep('saving');
    const put = await state.callRelay((client) => client.configYaml.write(agentId, text));
    if (!put.ok) {
      setStep('open');
      setStatus({ wrong: true, text: problemText(put.problem), undo: null });
      return;
    }
    await limits.query.again();
    setStatus({
      wrong: false,
      text: t`Saved`,
      undo: before.kind === 'ready' ? () => undo(before.value.own) : null,
    });
    await read('open');
  }
  async function undo(own: Own) {
    setStep('saving');
    const put = await limits.change(() => own);
    setStatus({ wrong: !put.ok, text: put.ok ? t`Undone.` : problemText(put.problem), undo: null });
    await read('open');
  }

  if (step === 'closed' || step === 'reading')
    return (
      <div className="yaml above-5 stack at-start gap-4">
        <button
          type="button"
          className="ghost"
          disabled={step === 'reading'}
          onClick={() => void open()}
        >{t`Limits as YAML`}</button>
        <p className="setting-state" role="status" data-wrong={status?.wrong === true}>
          {status?.text}
        </p>
      </div>
    );
  return (
    <div className="yaml above-5 stack at-start gap-4">
      <label className="medium text-3" htmlFor={id}>{t`Limits as YAML`}</label>
      <textarea
        id={id}
        className="field yaml-field pad-5"
        rows={14}
        spellCheck={false}
        autoComplete="off"
        value={text}
        aria-describedby={`${id}-hint ${id}-state`}
        aria-invalid={status?.wrong === true}
        onChange={(event) => setText(event.target.value)}
      />
      <p id={`${id}-hint`} className="setting-hint">{t`All limits that apply. A line that you remove is inherited.`}</p>
      <div className="gap-4 flex wrap">
        <button
          type="button"
          className="ghost"
          onClick={() => void copyText(state, text, t`Limits as YAML`)}
        >{t`Copy`}</button>
        <button type="button" className="solid" disabled={step === 'saving'} onClick={() => void save()}>
          {step === 'saving' ? t`Saving…` : t`Save`}
        </button>
        <button type="button" className="ghost" onClick={() => setStep('closed')}>{t`Close`}</button>
      </div>
      <p id={`${id}-state`} className="setting-state" role="status" data-wrong={status?.wrong === true}>
        {status && <span>{status.text}</span>}
        {status?.undo && (
          <button type="button" className="link-button" onClick={() => void status.undo?.()}>{t`Undo`}</button>
        )}
      </p>
    </div>
  );
}

/** The limits of everybody or of one agent, as text. */
export function LimitsAsYaml() {
  const roost = useRoost();
  const roster = useHousehold((state) => state.roster);
  const [agentId, setAgentId] = useState<AgentId | null>(null);
  return (
    <>
      <label className="agent-select gap-4 cluster ink-2 text-3">
        {t`For`}
        <select
          className="field field-select medium ink"
          value={agentId ?? ''}
          onChange={({ target }) => setAgentId(target.value === '' ? null : target.value)}
        >
          <option value="">{t`Everybody`}</option>
          <AgentOptions agents={[...roster.byId.values()]} />
        </select>
      </label>
      {agentId === null ? (
        <Yaml key="everybody" agentId={null} limits={roost.limits} />
      ) : (
        <Yaml key={agentId} agentId={agentId} limits={wakeQueries(roost).limits(agentId)} />
      )}
    </>
  );
}
