import { t } from '../../language/t.ts';
import { keyNames } from '../commands/command.ts';
import { KEY_SHEET } from '../commands/table.ts';
import { Dialog } from '../design/dialog.tsx';
import './keys-dialog.css';

export default function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t`Keys`} onClose={onClose} isRead>
      <dl className="keys">
        {KEY_SHEET.map(({ keys, does }) => (
          <div className="stack middle gap-5 pad-3-0" key={does}>
            <dt className="flex wrap gap-2">
              {keyNames(keys).map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd className="ink-2 text-3">{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
