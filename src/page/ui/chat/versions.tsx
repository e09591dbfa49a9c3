/** The earlier versions of an edited message. They stay and can be read in place. */
import { errorText } from '../../state/ports.ts';
import { useEffect, useState } from 'react';
import { t } from '../../language/t.ts';
import type { MessageDoc } from '../../../shared/protocol/documents.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { fullTime } from '../text/time.ts';
import { Words } from './markdown.tsx';

/** Most messages shown of an earlier version. */
const MOST = 400;

/** Each version as its first message and all that followed, oldest first. */
function versionsOf(messages: readonly MessageDoc[]): readonly (readonly MessageDoc[])[] {
  const versions: MessageDoc[][] = [];
  for (const message of messages) {
    const last = versions.at(-1);
    if (last && message.replaces === null) last.push(message);
    else versions.push([message]);
  }
  return versions;
}

interface Props {
  readonly message: MessageDoc;
  readonly name: string;
  readonly onClose: () => void;
}

export default function VersionsDialog({ message, name, onClose }: Props) {
  const { dataWorker } = useRoost();
  const { agentId, messageId } = message;
  const [versions, setVersions] = useState<readonly MessageDoc[] | 'reading' | { readonly failed: string }>('reading');
  useEffect(() => {
    let wanted = true;
    dataWorker.call('replaced', { agentId, messageId, limit: MOST + 1 }).then(
      (messages) => wanted && setVersions(messages),
      (error: unknown) => wanted && setVersions({ failed: errorText(error) }),
    );
    return () => {
      wanted = false;
    };
  }, [dataWorker, agentId, messageId]);
  return (
    <Dialog title={t`Earlier versions`} shape="wide" onClose={onClose}>
      {versions === 'reading' ? (
        <p className="ink-3" role="status">{t`Loading…`}</p>
      ) : 'failed' in versions ? (
        <p className="wrong-note" role="alert">{t`Could not load this. ${versions.failed}`}</p>
      ) : versions.length === 0 ? (
        <p className="ink-3">{t`It is not on this device.`}</p>
      ) : (
        <>
          {versionsOf(versions.slice(0, MOST)).map((version, i) => (
            <section key={version[0]?.messageId ?? i} className="version">
              <h3 className="under-4 ink-3 text-2 medium">{t`Version ${i + 1}, ${fullTime(version[0]?.time ?? 0)}`}</h3>
              {version.map((each) => (
                <div key={each.messageId} className="version-message">
                  <strong dir="auto">
                    {each.author === 'human' ? t`You` : each.author === agentId ? name : t`Roost`}
                  </strong>
                  <Words text={textOf(each.blocks)} />
                </div>
              ))}
            </section>
          ))}
          {versions.length > MOST && (
            <p className="ink-3">{t`These are the first ${MOST} messages that stood here. An export of the conversation has them all.`}</p>
          )}
        </>
      )}
    </Dialog>
  );
}
