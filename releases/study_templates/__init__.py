"""Study templates: a study's plan as one YAML file, without people, money, codes or accounts."""
