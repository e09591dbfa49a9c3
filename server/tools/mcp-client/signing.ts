/** The person's sign-ins to attached servers: begun, come back from, and left. */
import type { AttachedServer } from '../../../src/shared/protocol/attached.ts';
import type { Link } from './link.ts';
import { NOT_BEGUN, SignInError, type SignIn } from './sign-in.ts';
import type { Attached, Refused } from './types.ts';

/** What is used of a server. */
interface SignedIn {
  readonly link: Pick<Link, 'standing' | 'retry'>;
  /** Null: it is a program. */
  readonly signIn: SignIn | null;
}

export interface SigningDeps<One> {
  readonly kept: ReadonlyMap<string, One>;
  readonly onChange: () => void;
  readonly show: (one: One) => AttachedServer;
}

function refusedSignIn(error: unknown): Refused {
  if (!(error instanceof SignInError)) throw error;
  return { refused: 'sign-in', reason: error.message };
}

export function createSigning<One extends SignedIn>({
  kept,
  onChange,
  show,
}: SigningDeps<One>): Pick<Attached, 'signIn' | 'signOut' | 'finishSignIn'> {
  return {
    async signIn(serverId, redirect) {
      const one = kept.get(serverId);
      if (!one) return null;
      if (!one.signIn) return { refused: 'sign-in', reason: 'A program needs no sign-in.' };
      try {
        // What it says when it refuses names where its sign-in is.
        if (one.link.standing().state !== 'connected') await one.link.retry();
        const url = await one.signIn.begin(redirect);
        onChange();
        return url;
      } catch (error) {
        return refusedSignIn(error);
      }
    },
    async signOut(serverId) {
      const one = kept.get(serverId);
      if (!one) return null;
      await one.signIn?.leave();
      onChange();
      if (one.link.standing().state === 'connected') await one.link.retry();
      return show(one);
    },
    async finishSignIn(query) {
      const one = [...kept.values()].find(({ signIn }) => signIn?.waitsFor(query.get('state') ?? ''));
      try {
        if (!one?.signIn) throw new SignInError(NOT_BEGUN);
        await one.signIn.finish(query);
      } catch (error) {
        return refusedSignIn(error);
      } finally {
        onChange();
      }
      await one.link.retry();
      return show(one);
    },
  };
}
