"""Study templates: a study's plan as one YAML file, without participants, money, codes or accounts."""
