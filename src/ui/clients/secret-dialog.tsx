import { useState } from 'react';
import { useRoost } from '../context.tsx';
import { copyText } from '../parts/copy.ts';
import { Dialog } from '../parts/dialog.tsx';
import { CopyIcon } from '../parts/icons.tsx';
import { callsToPaste, settingsToPaste } from './settings-to-paste.ts';

function Copyable({ text, what }: { text: string; what: string }) {
  const state = useRoost();
  return (
    <div className="command">
      {/* Read by keyboard too where it scrolls. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <button
        type="button"
        className="icon-button"
        aria-label={`Copy: ${what}`}
        title="Copy"
        onClick={() => void copyText(state, text, what)}
      >
        <CopyIcon />
      </button>
    </div>
  );
}

/** Shows a secret, this once, and what to do with it. It goes by its button only: a stray press beside it must not lose it. */
export function SecretDialog({
  name,
  label,
  secret,
  onClose,
}: {
  name: string | null;
  label: string;
  secret: string;
  onClose: () => void;
}) {
  const [asked, setAsked] = useState(false);
  return (
    <Dialog
      title={name === null ? 'A credential for an application' : `A credential for ${name}`}
      shape="wide"
      onClose={() => setAsked(true)}
    >
      <div className="secret">
        <p>
          <strong>This is shown once.</strong> Roost keeps only a hash of it. Whoever has it{' '}
          {name === null ? 'can set agents to sleep and wake them' : `acts as ${name}`}
          {label === '' ? '' : ` (${label})`}; keep it as you keep a password.
        </p>
        <Copyable text={secret} what="The secret" />
        {(name === null ? callsToPaste : settingsToPaste)(location.origin, secret).map(
          ({ key, title, about, text }) => (
            <section key={key} aria-label={title}>
              <h3>{title}</h3>
              <p>{about}</p>
              <Copyable text={text} what={title} />
            </section>
          ),
        )}
        {asked && (
          <p className="setting-hint" role="status">
            After this it cannot be shown again; lost, it is revoked and another is made.
          </p>
        )}
        <div className="dialog-ways">
          <button type="button" className="solid" onClick={onClose}>
            I have copied what I need
          </button>
        </div>
      </div>
    </Dialog>
  );
}
