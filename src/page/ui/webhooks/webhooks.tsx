/** The webhooks of a project or a routine: makes, lists, renews and deletes them. */
import { type FormEvent, useState } from 'react';
import type { Webhook } from '../../../shared/protocol/webhooks.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { PROJECT_LIMITS } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { type MadeWebhook, webhooksOf } from '../../state/webhooks.ts';
import { useLive, useRoost } from '../context.tsx';
import { useNow } from '../hooks.ts';
import { CopyableText } from '../parts/copyable-text.tsx';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { clockTime, dayWithin } from '../text/time.ts';
import './webhooks.css';
import { useAction } from '../design/use-action.ts';
import { SelectField, TextField, WrongNote } from '../design/field.tsx';

/** What webhooks are shown and made for. */
export type WebhookSubject =
  | { readonly kind: 'project'; readonly projectId: string; readonly name: string }
  | { readonly kind: 'routine'; readonly scheduleId: string; readonly name: string };

const isOf = ({ target }: Webhook, subject: WebhookSubject): boolean =>
  target.kind === 'project'
    ? subject.kind === 'project' && target.projectId === subject.projectId
    : subject.kind === 'routine' && target.scheduleId === subject.scheduleId;

const COLUMNS = { backlog: t`Backlog: you check them first`, ready: t`Ready: agents may take them` } as const;

/** What a call does; a routine has nothing to choose. */
function doesText({ target }: Webhook): readonly string[] {
  if (target.kind === 'routine') return [];
  const where = COLUMNS[target.column];
  return [target.githubLabel === null ? where : t`${where}, of GitHub only issues with “${target.githubLabel}”`];
}

function Line({ webhook, away, onMade }: { webhook: Webhook; away: boolean; onMade: (made: MadeWebhook) => void }) {
  const webhooks = webhooksOf(useRoost());
  const now = useNow();
  const [asks, setAsks] = useState<'renew' | 'remove' | null>(null);
  const { webhookId, name, hint, signed, createdAt, usedAt } = webhook;
  return (
    <li className="webhook gap-4 pad box cluster text-3">
      <div>
        <b dir="auto">{name}</b>
        <small className="ink-2">
          <code>…{hint}</code>
          <span>
            {[
              '',
              ...doesText(webhook),
              ...(signed ? [t`signed`] : []),
              t`made ${dayWithin(createdAt, now)}`,
              usedAt === null ? t`never used` : t`last used ${dayWithin(usedAt, now)} ${clockTime(usedAt)}`,
            ].join(' · ')}
          </span>
        </small>
      </div>
      <button
        type="button"
        className="ghost"
        disabled={away}
        aria-label={t`Renew ${`${name}, ${hint}`}`}
        onClick={() => setAsks('renew')}
      >{t`Renew`}</button>
      <button
        type="button"
        className="ghost ghost-danger"
        disabled={away}
        aria-label={t`Delete ${`${name}, ${hint}`}`}
        onClick={() => setAsks('remove')}
      >{t`Delete`}</button>
      {asks === 'renew' && (
        <SureDialog
          title={t`Renew ${name}`}
          does={t`Renew`}
          onSure={async () => {
            const renewed = await webhooks.renew(webhookId);
            if (renewed.ok) onMade(renewed.made);
            return renewed.ok ? null : renewed.reason;
          }}
          onClose={() => setAsks(null)}
        >
          <p>{t`It gets a new address. The one ending in …${hint} stops working now.`}</p>
        </SureDialog>
      )}
      {asks === 'remove' && (
        <SureDialog
          title={t`Delete ${name}`}
          does={t`Delete`}
          onSure={async () => {
            const done = await webhooks.remove(webhookId);
            return done.ok ? null : done.reason;
          }}
          onClose={() => setAsks(null)}
        >
          <p>{t`Its address stops working now. Its tasks stay.`}</p>
        </SureDialog>
      )}
    </li>
  );
}

function NewWebhook({
  subject,
  away,
  onMade,
}: {
  subject: WebhookSubject;
  away: boolean;
  onMade: (made: MadeWebhook) => void;
}) {
  const webhooks = webhooksOf(useRoost());
  const [name, setName] = useState('');
  const [column, setColumn] = useState<'backlog' | 'ready'>('backlog');
  const [label, setLabel] = useState('');
  const [signed, setSigned] = useState(false);
  const { busy, failed, act, fail } = useAction();
  const make = (event: FormEvent) => {
    event.preventDefault();
    if (away) return;
    if (name.trim() === '') return fail(t`It needs a name.`);
    const target =
      subject.kind === 'routine'
        ? { kind: subject.kind, scheduleId: subject.scheduleId }
        : {
            ...{ kind: subject.kind, projectId: subject.projectId, column },
            githubLabel: label.trim() === '' ? null : label.trim(),
          };
    act(async () => {
      const created = await webhooks.create({ name, target, signed });
      if (created.ok) onMade(created.made);
      return created;
    });
  };
  return (
    <form className="webhook-form ruled stack gap-5" noValidate onSubmit={make}>
      <h3>{t`Create a webhook`}</h3>
      <TextField
        label={t`Name`}
        wrong={name.trim() === '' ? failed : null}
        prose
        maxLength={LIMITS.credentialLabel}
        value={name}
        onText={setName}
      />
      {subject.kind === 'project' && (
        <>
          <SelectField
            label={t`Tasks go to`}
            choices={[
              ['backlog', COLUMNS.backlog],
              ['ready', COLUMNS.ready],
            ]}
            value={column}
            onChange={setColumn}
          />
          <TextField
            label={t`GitHub label (empty: all new issues)`}
            prose
            maxLength={PROJECT_LIMITS.label}
            value={label}
            onText={setLabel}
          />
        </>
      )}
      <label className="tick-line">
        <input type="checkbox" checked={signed} onChange={({ target }) => setSigned(target.checked)} />
        {t`Require GitHub’s signature`}
      </label>
      <WrongNote text={name.trim() === '' ? null : failed} />
      <div>
        <button type="submit" className="solid" disabled={busy || away}>
          {busy ? t`Working…` : t`Create a webhook`}
        </button>
      </div>
    </form>
  );
}

/** The secrets of a webhook, which are shown once. */
function Secrets({ made: { webhook, secret, signingSecret }, onDone }: { made: MadeWebhook; onDone: () => void }) {
  const address = `${location.origin}/hooks/${secret}`;
  const example =
    webhook.target.kind === 'routine'
      ? `curl -X POST ${address}`
      : `curl -X POST ${address} -H 'Content-Type: application/json' -d '{"title": "Broken link", "text": "On the first page."}'`;
  return (
    <section className="webhook-secrets stack gap-5" aria-label={t`The address of ${webhook.name}`}>
      <p>{t`${<strong>{t`This is shown once.`}</strong>} Anyone with the address can call it.`}</p>
      <CopyableText text={address} what={t`Address`} />
      {signingSecret !== null && (
        <>
          <p>{t`The secret for signatures: “Secret” at GitHub.`}</p>
          <CopyableText text={signingSecret} what={t`The secret`} />
        </>
      )}
      {signingSecret === null && (
        <>
          <p>{t`Example`}</p>
          <CopyableText text={example} what={t`Example`} />
        </>
      )}
      <div className="dialog-ways">
        <button type="button" className="solid" onClick={onDone}>{t`I have copied what I need`}</button>
      </div>
    </section>
  );
}

export function WebhooksDialog({ subject, onClose }: { subject: WebhookSubject; onClose: () => void }) {
  const webhooks = webhooksOf(useRoost());
  const away = useLive(({ link }) => link.kind !== 'live');
  const [made, setMade] = useState<MadeWebhook | null>(null);
  return (
    // An accidental press beside the dialog must not lose a secret that is shown once.
    <Dialog title={t`Webhooks of “${subject.name}”`} onClose={made === null ? onClose : () => undefined}>
      {made === null ? (
        <div className="webhooks stack gap-5">
          <p className="setting-hint">
            {subject.kind === 'routine'
              ? t`Each call of a webhook starts the routine, within its limits.`
              : t`Each call of a webhook creates a task, from a website or GitHub. Agents treat its text as a stranger’s.`}
          </p>
          <QueryView query={webhooks.list}>
            {(webhooks) => {
              const own = webhooks.filter((webhook) => isOf(webhook, subject));
              return own.length === 0 ? null : (
                <ul className="stack gap-4" aria-label={t`Webhooks`}>
                  {own.map((webhook) => (
                    <Line key={webhook.webhookId} webhook={webhook} away={away} onMade={setMade} />
                  ))}
                </ul>
              );
            }}
          </QueryView>
          <NewWebhook subject={subject} away={away} onMade={setMade} />
        </div>
      ) : (
        <Secrets made={made} onDone={() => setMade(null)} />
      )}
    </Dialog>
  );
}
