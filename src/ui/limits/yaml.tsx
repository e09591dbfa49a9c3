import { useId, useState } from 'react';
import { problemText } from '../../state/ports.ts';
import { useRoost } from '../context.tsx';
import { copyText } from '../parts/copy.ts';

type Step = { readonly kind: 'closed' } | { readonly kind: 'reading' } | { readonly kind: 'open'; readonly before: string } | { readonly kind: 'saving'; readonly before: string };

/** What was set, as YAML: to copy out, and to paste in. The relay reads and writes it. */
export function Yaml({ agentId, again }: { agentId: string | null; again: () => Promise<void> }) {
  const state = useRoost();
  const id = useId();
  const [step, setStep] = useState<Step>({ kind: 'closed' });
  const [text, setText] = useState('');
  const [said, setSaid] = useState<{ readonly wrong: boolean; readonly text: string } | null>(null);

  async function open() {
    setStep({ kind: 'reading' });
    const read = await state.reach((client) => client.configAsYaml(agentId));
    if (!read.ok) {
      setStep({ kind: 'closed' });
      setSaid({ wrong: true, text: problemText(read.problem) });
      return;
    }
    setSaid(null);
    setText(read.value);
    setStep({ kind: 'open', before: read.value });
  }
  async function save(yaml: string, before: string, done: string) {
    setStep({ kind: 'saving', before });
    const put = await state.reach((client) => client.putConfigAsYaml(agentId, yaml));
    if (!put.ok) {
      setStep({ kind: 'open', before });
      setSaid({ wrong: true, text: problemText(put.problem) });
      return;
    }
    await again();
    const read = await state.reach((client) => client.configAsYaml(agentId));
    setText(read.ok ? read.value : yaml);
    setStep({ kind: 'open', before });
    setSaid({ wrong: false, text: done });
  }

  if (step.kind === 'closed' || step.kind === 'reading')
    return (
      <div className="yaml">
        <button type="button" className="ghost" disabled={step.kind === 'reading'} onClick={() => void open()}>
          Copy or paste as YAML…
        </button>
        <p className="setting-state" role="status" data-wrong={said?.wrong === true}>
          {said?.text}
        </p>
      </div>
    );
  const { before } = step;
  return (
    <div className="yaml">
      <label htmlFor={id}>As YAML</label>
      <textarea id={id} className="field yaml-field" rows={14} spellCheck={false} autoComplete="off" value={text} aria-describedby={`${id}-hint ${id}-state`} aria-invalid={said?.wrong === true} onChange={(event) => setText(event.target.value)} />
      <p id={`${id}-hint`} className="setting-hint">
        Only what was set here. What is left out is inherited.
      </p>
      <div className="yaml-ways">
        <button type="button" className="ghost" onClick={() => void copyText(state, text, 'The limits, as YAML,')}>
          Copy
        </button>
        <button type="button" className="solid" disabled={step.kind === 'saving'} onClick={() => void save(text, before, 'Saved. It holds now.')}>
          {step.kind === 'saving' ? 'Saving…' : 'Take this'}
        </button>
        <button type="button" className="ghost" onClick={() => setStep({ kind: 'closed' })}>
          Close
        </button>
      </div>
      <p id={`${id}-state`} className="setting-state" role="status" data-wrong={said?.wrong === true}>
        {said?.text}
        {said && !said.wrong && text !== before && (
          <button type="button" className="link-button" onClick={() => void save(before, before, 'As it was.')}>
            Undo
          </button>
        )}
      </p>
    </div>
  );
}
