/** Who calls `/mcp`: one credential is one agent. */
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { teamSchema, type TeamMember } from '../../../src/shared/protocol/team.ts';
import type { RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import { idOf } from '../../../src/shared/protocol/ids.ts';
import type { Bearer, Credentials } from '../../access/index.ts';
import type { Directory, SessionHost } from '../../contracts/index.ts';
import { problem } from '../../http/problem.ts';
import { BAD_CREDENTIAL, NO_AGENT, NO_CREDENTIAL, OF_APPLICATION } from './sayings.ts';

export interface BearerDeps {
  readonly credentials: Pick<Credentials, 'check'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly newborn: SessionHost['newborn'];
}

/** What travels through the SDK beside each request. */
const joinedSchema = z.object({
  credentialId: z.string(),
  secret: z.string(),
  label: z.string(),
  readsSoul: z.boolean(),
  run: z.object({ runId: idOf<RunId>(z.string()), sessionId: idOf<SessionId>(z.string()).nullable() }).optional(),
  agent: teamSchema.shape.agents.element,
});
export interface Joined {
  readonly credentialId: string;
  readonly secret: string;
  readonly label: string;
  readonly readsSoul: boolean;
  /** It is a mind of the relay's own, in this run. */
  readonly run?: Bearer['run'];
  readonly agent: TeamMember;
}

const refuse = (detail: string, error: string) =>
  problem(401, 'no-credential', detail, { headers: { 'www-authenticate': `Bearer realm="Roost"${error}` } });

/** Throws a 401 where there is no good credential, and a 403 where its agent may not join. */
export async function authenticate(
  { credentials, directory, newborn }: BearerDeps,
  authorization: string | undefined,
): Promise<AuthInfo> {
  const secret = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (secret === undefined) throw refuse(NO_CREDENTIAL, '');
  const bearer = await credentials.check(secret);
  if (bearer === null) throw refuse(BAD_CREDENTIAL, ', error="invalid_token"');
  const { credentialId, agentId, label, readsSoul, run } = bearer;
  if (agentId === null) throw problem(403, 'no-agent', OF_APPLICATION);
  const known = (await directory.all()).find((each) => each.agentId === agentId);
  // Only a run of the relay's own drives an agent that no page has told of yet.
  const agent = known ?? (run ? newborn(agentId)?.member : undefined);
  if (!agent || agent.retired) throw problem(403, 'no-agent', NO_AGENT);
  const joined: Joined = { credentialId, secret, label, readsSoul, agent, ...(run ? { run } : {}) };
  return { token: secret, clientId: credentialId, scopes: [], extra: { ...joined } };
}

/** Who sent the request that is handled here. */
export const joinedOf = (context: ServerContext): Joined => joinedSchema.parse(context.http?.authInfo?.extra);
export const joinedFrom = (auth: AuthInfo): Joined => joinedSchema.parse(auth.extra);
