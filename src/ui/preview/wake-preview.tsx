export default function WakePreview(_: { onClose: () => void }) { return null; }
