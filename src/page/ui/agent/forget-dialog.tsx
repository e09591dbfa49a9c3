/** The dialog that asks twice before an agent or a conversation is forgotten. */
import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { FORGET_AFTER, FORGET_SOON } from '../../../shared/domain/forgetting.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { useActions, useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { duration, fullTime } from '../text/time.ts';
import { useSomebody, type Somebody } from '../use-somebody.ts';
import { ForgetPreviewList } from './forget-preview.tsx';
import './forget-dialog.css';

type Kind = 'agent' | 'conversation';
type Person = Exclude<Somebody, { kind: 'nobody' | 'egg' }>;

/** Compares the name as a person types it. */
const isSameName = (typed: string, name: string) =>
  typed.trim().normalize('NFC').toLowerCase() === name.trim().normalize('NFC').toLowerCase();

/**
 * Why it is not possible now, with a way out, or null. An awake agent still has in its context what
 * is to be forgotten.
 */
function useHindrance(somebody: Person): { text: string; label: string; run: () => void } | null {
  const actions = useActions();
  const { agentId, name } = somebody;
  const text = t`${name} takes part in the running session, and must leave it first.`;
  if (somebody.kind === 'lead')
    return somebody.awake ? { text, label: t`End session`, run: () => void actions.endSession('now') } : null;
  if (somebody.kind !== 'agent' || (somebody.seat.state === 'sleeping' && !somebody.seat.paused)) return null;
  const isHeld = somebody.seat.paused || somebody.seat.state === 'driven';
  return {
    text,
    label: isHeld ? t`Take ${name} out of the session` : t`Let ${name} sleep`,
    run: () => void actions.sleep(agentId),
  };
}

function WhatGoes({ kind, agentId, name }: { kind: Kind; agentId: AgentId; name: string }) {
  const { device } = useRoost();
  const [askedAt] = useState(() => device.now());
  return (
    <ul className="forget-what stack gap-5">
      {kind === 'agent' ? (
        <li>
          {t`${<b>{t`What goes:`}</b>} ${name}’s soul, your conversation, its inbox and its files. The seat is free at once.`}
        </li>
      ) : (
        <>
          <li>
            {t`${<b>{t`What goes:`}</b>} every word said here so far, its inbox, and every note that it made. ${name} stays.`}
            <ForgetPreviewList target={{ kind: 'conversation', agentId }} />
          </li>
          <li>
            {t`${<b>{t`When`}</b>} out of sight now. For ${duration(FORGET_SOON)} you can undo it. Then it is deleted from the relay and every device. No backup or import brings it back.`}
          </li>
        </>
      )}
      {kind === 'agent' && (
        <li>
          {t`${<b>{t`When`}</b>} out of sight now. Until ${fullTime(askedAt + FORGET_AFTER)} you can undo it in Settings, Devices and data. Then it is deleted from every device and relay.`}
        </li>
      )}
      <li>
        {t`${<b>{t`What stays:`}</b>} what others remember and have said of ${name}, and every copy that you exported.`}
      </li>
    </ul>
  );
}

/** The second confirmation: an agent by typing its name, a conversation by another button. */
function Second({
  kind,
  name,
  busy,
  onForget,
  onBack,
}: {
  kind: Kind;
  name: string;
  busy: boolean;
  onForget: () => void;
  onBack: () => void;
}) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const first = useRef<HTMLInputElement & HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  const sure = kind === 'conversation' || isSameName(typed, name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (sure && !busy) onForget();
  };
  return (
    <form className="forget-second ruled gap-4 stack" onSubmit={submit}>
      {kind === 'agent' ? (
        <>
          <label htmlFor={id}>{t`To be sure: type the name ${<b dir="auto">{name}</b>}`}</label>
          <input
            ref={first}
            id={id}
            className="field"
            dir="auto"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </>
      ) : (
        <p>{t`Forget every word said with ${name} so far?`}</p>
      )}
      <div className="dialog-ways">
        <button type="button" className="ghost" ref={kind === 'conversation' ? first : null} onClick={onBack}>
          {t`Cancel`}
        </button>
        <button type="submit" className="danger-button" disabled={!sure || busy}>
          {busy ? t`Working…` : kind === 'agent' ? t`Forget ${name}` : t`Forget`}
        </button>
      </div>
    </form>
  );
}

function Asking({ somebody, kind, onClose }: { somebody: Person; kind: Kind; onClose: () => void }) {
  const actions = useActions();
  const { go } = useRoute();
  const [step, setStep] = useState<'first' | 'second' | 'busy'>('first');
  const [failed, setFailed] = useState<string | null>(null);
  const hindrance = useHindrance(somebody);
  const { agentId, name } = somebody;

  const forget = async () => {
    setStep('busy');
    const text = t`${kind === 'agent' ? name : t`Conversation with ${name}`} is being forgotten.`;
    const answer = await actions.forget({ kind, agentId }, text);
    if (!answer.ok) {
      setFailed(answer.reason);
      return setStep('second');
    }
    onClose();
    if (kind === 'agent') go(PATHS.hearth);
  };

  let ways: ReactNode;
  if (hindrance)
    ways = (
      <div className="pad-5 warn-box gap-4 cluster apart round" role="status">
        <p>{hindrance.text}</p>
        <button type="button" className="ghost" onClick={hindrance.run}>
          {hindrance.label}
        </button>
      </div>
    );
  else if (step === 'first')
    ways = (
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
        <button type="button" className="danger-button" onClick={() => setStep('second')}>{`${t`Continue`}…`}</button>
      </div>
    );
  else ways = <Second kind={kind} name={name} busy={step === 'busy'} onForget={() => void forget()} onBack={onClose} />;

  return (
    <div className="forget gap-6 text-4 stack break ink-2">
      <WhatGoes kind={kind} agentId={agentId} name={name} />
      {ways}
      {failed !== null && <p className="wrong-note" role="alert">{t`Could not save this. ${failed}`}</p>}
    </div>
  );
}

/** Asks twice, in plain words, before an agent or a conversation is forgotten. */
export default function ForgetDialog({
  agentId,
  kind,
  onClose,
}: {
  agentId: AgentId;
  kind: Kind;
  onClose: () => void;
}) {
  const somebody = useSomebody(agentId);
  if (somebody.kind === 'nobody' || somebody.kind === 'egg') return null;
  return (
    <Dialog
      title={kind === 'agent' ? t`Forget ${somebody.name}` : t`Forget the conversation with ${somebody.name}?`}
      onClose={onClose}
    >
      <Asking somebody={somebody} kind={kind} onClose={onClose} />
    </Dialog>
  );
}
