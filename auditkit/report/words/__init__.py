"""Every sentence, label and phrase of a report; the other modules of `auditkit.report` decide what to say."""
