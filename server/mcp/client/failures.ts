/** What an error of a connection means, and its words for the person. */
import { endOfText } from '../../../src/shared/domain/cut-middle.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { onOneLine } from '../../../src/shared/domain/quoting.ts';
import type { Attachment } from '../../../src/shared/protocol/mcp.ts';
import type { McpLimits } from './settings.ts';
import { isSdkError } from './sdk.ts';

const isBoxed = (attachment: Attachment) => attachment.kind === 'program' && attachment.box !== null;
/** Words of programs that had no memory. More folders or hosts would not help them. */
const NO_MEMORY = /WebAssembly|out of memory|allocat\w* (?:of )?memory|memory allocation|ENOMEM|heap limit/i;
/** A possible cause of the trouble of a sandboxed program. */
const boxedTrouble = (trouble: string) =>
  NO_MEMORY.test(trouble)
    ? sentence`It ran out of memory in the sandbox. ${trouble}`
    : sentence`In the sandbox it reaches only system programs, and the folders and hosts that you named. Add what it lacks, or let it run outside the sandbox. ${trouble}`;

export const wantsSignIn = (error: unknown) =>
  isSdkError('UnauthorizedError', error) ||
  isSdkError('InsufficientScopeError', error) ||
  (isSdkError('SdkHttpError', error) && error.data.status === 401);

export const statusOf = (error: unknown): number | null =>
  isSdkError('SdkHttpError', error) ? error.data.status : null;
/** Statuses with which a restarted server refuses an old session. */
const FORGOTTEN: readonly (number | null)[] = [400, 404];
/** Statuses for which another transport does not help. */
export const NO_OTHER_WAY: readonly number[] = [401, 403, 429];
/** Statuses of a proxy whose server is away. */
const AWAY: readonly (number | null)[] = [502, 503, 504];

export const isRefusedConnection = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && error.code === 'ECONNREFUSED') || isRefusedConnection(error.cause));
/** The server does not know this connection: the request did not run. */
export const isForgotten = (error: unknown) => FORGOTTEN.includes(statusOf(error)) || isRefusedConnection(error);
/** The connection broke. Whether the request ran is unknown. */
export const isBroken = (error: unknown) => error instanceof TypeError || AWAY.includes(statusOf(error));

export const sentenceOf = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const reason = cause instanceof Error ? cause.message : '';
  return reason === '' || message.includes(reason) ? message : `${message}: ${reason}`;
};

/** `cause`: why the connection failed. `errorOutput`: the end of a program's error output. */
export class ConnectError extends Error {
  readonly said: string;
  constructor(cause: unknown, errorOutput = '') {
    super('not connected', { cause });
    this.said = errorOutput;
  }
}

/** The trouble of an attachment, as a sentence for the person. `saying`: an error in one line. */
export function troubleOf(
  attachment: Attachment,
  error: unknown,
  {
    said,
    saying,
    limits,
  }: {
    readonly said: string;
    readonly saying: (error: unknown) => string;
    readonly limits: Pick<McpLimits, 'errorChars'>;
  },
): string {
  const words = !wantsSignIn(error)
    ? saying(error)
    : isSdkError('UnauthorizedError', error)
      ? onOneLine(error.message)
      : sentence`it wants a sign-in, or does not accept the key`;
  const trouble = said === '' ? words : sentence`${words}. It wrote: ${endOfText(onOneLine(said), limits.errorChars)}`;
  return isBoxed(attachment) ? boxedTrouble(trouble) : trouble;
}
