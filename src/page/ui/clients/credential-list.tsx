import { useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Credential } from '../../../shared/protocol/team.ts';
import { clientsOf } from '../../state/clients.ts';
import { useRoost } from '../context.tsx';
import { SureDialog } from '../parts/sure-dialog.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { clockTime, dayWithin, fullTime } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import type { Teammates } from '../use-teammates.ts';
import { scopeName } from './scopes.tsx';

/** As whom it lets in. */
const bearerOf = ({ agentId }: Credential, team: Teammates) =>
  agentId === null ? t`an application` : team.find(agentId).name;

const labelOf = ({ label }: Credential) => (label === '' ? t`Without a label` : label);

function RevokeDialog({ credential, name, onClose }: { credential: Credential; name: string; onClose: () => void }) {
  const state = useRoost();
  const clients = clientsOf(state);
  return (
    <SureDialog
      title={t`Revoke this credential?`}
      does={[t`Revoke it`, t`Revoking…`]}
      undone={t`It could not be revoked`}
      onSure={async () => {
        const done = await clients.revoke(credential.credentialId);
        if (!done.ok) return done.reason;
        state.notices.info(t`The credential is revoked.`);
        return null;
      }}
      onClose={onClose}
    >
      <p className="secret">{t`Whoever uses “${labelOf(credential)}” (…${credential.hint}) is not let in as ${name} any more, at once; what it is waiting for ends. This cannot be undone, but another can be made.`}</p>
    </SureDialog>
  );
}

function Line({
  credential,
  name,
  now,
  onRevoke,
}: {
  credential: Credential;
  name: string | null;
  now: number;
  onRevoke: () => void;
}) {
  const { hint, readsSoul, scopes, madeAt, usedAt, revokedAt } = credential;
  return (
    <li className="credential" data-revoked={revokedAt !== null}>
      <div>
        <b dir="auto">{labelOf(credential)}</b>
        <small>
          {name !== null && <span>{`${t`as ${name}`} · `}</span>}
          <code>…{hint}</code>
          <span>
            {[
              '',
              t`made ${dayWithin(madeAt, now)}`,
              revokedAt !== null
                ? t`revoked ${fullTime(revokedAt)}`
                : usedAt === null
                  ? t`never used`
                  : t`last used ${dayWithin(usedAt, now)} ${clockTime(usedAt)}`,
              ...(readsSoul ? [t`may read the soul and the last conversation`] : []),
              ...(scopes.length > 0 ? [t`may: ${scopes.map(scopeName).join(', ')}`] : []),
            ].join(' · ')}
          </span>
        </small>
      </div>
      {revokedAt === null && (
        <button
          type="button"
          className="ghost ghost-danger"
          aria-label={t`Revoke ${labelOf(credential)}, ${hint}`}
          onClick={onRevoke}
        >{t`Revoke`}</button>
      )}
    </li>
  );
}

function Lines({ credentials, of, team }: { credentials: readonly Credential[]; of: string | null; team: Teammates }) {
  const now = useNow();
  const [revoking, setRevoking] = useState<Credential | null>(null);
  const mine = credentials.filter(({ agentId }) => of === null || agentId === of);
  const good = mine.filter(({ revokedAt }) => revokedAt === null);
  const revoked = mine.filter(({ revokedAt }) => revokedAt !== null);
  const lines = (some: readonly Credential[]) => (
    <ul className="credentials">
      {some.map((credential) => (
        <Line
          key={credential.credentialId}
          credential={credential}
          name={of === null ? bearerOf(credential, team) : null}
          now={now}
          onRevoke={() => setRevoking(credential)}
        />
      ))}
    </ul>
  );
  return (
    <>
      {good.length === 0 ? <p className="setting-hint">{t`None: nobody joins from elsewhere.`}</p> : lines(good)}
      {revoked.length > 0 && (
        <details className="credentials-old">
          <summary>{t`${revoked.length} revoked`}</summary>
          {lines(revoked)}
        </details>
      )}
      {revoking && (
        <RevokeDialog credential={revoking} name={bearerOf(revoking, team)} onClose={() => setRevoking(null)} />
      )}
    </>
  );
}

/** Credentials there are; `agentId`: only this agent's. Those that were revoked are folded away. */
export function CredentialList({ agentId, team }: { agentId: AgentId | null; team: Teammates }) {
  return (
    <QueryView query={clientsOf(useRoost()).list} what={t`The credentials`}>
      {(credentials) => <Lines credentials={credentials} of={agentId} team={team} />}
    </QueryView>
  );
}
