export default function SettingsPage(_: { section: string; onClose: () => void }) { return null; }
