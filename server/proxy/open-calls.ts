/** Calls under way, by credential: one that is revoked ends them. */
import type { Credentials } from '../access/index.ts';

export interface OpenCalls {
  /** The reason with which a call aborts whose credential was revoked. */
  readonly revoked: Error;
  /** `gone` aborts with the client's signal and with the credential. `done` when the call is over. */
  add(credentialId: string, client: AbortSignal): { readonly gone: AbortController; readonly done: () => void };
}

export function createOpenCalls(credentials: Pick<Credentials, 'onRevoke'>): OpenCalls {
  const open = new Map<string, Set<AbortController>>();
  const revoked = new Error('the credential was revoked');
  credentials.onRevoke((credentialId) => {
    for (const gone of open.get(credentialId) ?? []) gone.abort(revoked);
  });
  return {
    revoked,
    add(credentialId, client) {
      const gone = new AbortController();
      const calls = open.get(credentialId) ?? new Set();
      open.set(credentialId, calls.add(gone));
      const leave = () => gone.abort(new Error('the client has gone'));
      if (client.aborted) leave();
      else client.addEventListener('abort', leave, { once: true });
      return {
        gone,
        done() {
          client.removeEventListener('abort', leave);
          calls.delete(gone);
          if (calls.size === 0 && open.get(credentialId) === calls) open.delete(credentialId);
        },
      };
    },
  };
}
