import { useState, type FormEvent } from 'react';
import { t } from '../../language/t.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { PhraseField, StepHead } from './dialog-parts.tsx';
import './devices.css';
import './phrase.css';

type Step =
  | { readonly kind: 'typing'; readonly wrong: string | null }
  | { readonly kind: 'checking' }
  | { readonly kind: 'good' };

/** Checks whether the phrase on paper is still the household's. */
export default function CheckDialog({ onClose }: { onClose: () => void }) {
  const actions = deviceActionsOf(useRoost());
  const [phrase, setPhrase] = useState('');
  const [step, setStep] = useState<Step>({ kind: 'typing', wrong: null });
  const check = async (event: FormEvent) => {
    event.preventDefault();
    if (step.kind === 'checking' || phrase.trim() === '') return;
    setStep({ kind: 'checking' });
    const checked = await actions.checkPhrase(phrase);
    if (!checked.ok) setStep({ kind: 'typing', wrong: checked.reason });
    else if (checked.value) setStep({ kind: 'good' });
    else
      setStep({
        kind: 'typing',
        wrong: t`This phrase is not your team’s. It may be an older one. Without another paper, make a new phrase.`,
      });
  };
  return (
    <Dialog title={t`Check my phrase`} onClose={onClose}>
      {step.kind === 'good' ? (
        <div className="devices stack gap-7 narrow ink-2 text-3">
          <div className="done-box stack at-start gap-4 pad-wide" role="status">
            <StepHead>{t`This is your phrase`}</StepHead>
            <button type="button" className="solid" onClick={onClose}>{t`Done`}</button>
          </div>
        </div>
      ) : (
        <form className="devices stack gap-7 narrow ink-2 text-3" onSubmit={(event) => void check(event)} noValidate>
          <p>{t`Type it from your paper. It stays on this device.`}</p>
          <PhraseField
            value={phrase}
            onChange={(next) => {
              setPhrase(next);
              setStep({ kind: 'typing', wrong: null });
            }}
            wrong={step.kind === 'typing' ? step.wrong : null}
          />
          <div className="devices-ways gap-4 cluster">
            <button type="submit" className="solid" disabled={step.kind === 'checking' || phrase.trim() === ''}>
              {step.kind === 'checking' ? t`Working…` : t`Check`}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
