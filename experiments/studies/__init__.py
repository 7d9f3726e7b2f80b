"""A study and its life: creation, readiness, questionnaire, quiz, languages and pay."""
